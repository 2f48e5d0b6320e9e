package activities

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"dateline/internal/desk"
	"dateline/internal/media"
	"dateline/internal/post"
	"dateline/platforms/network"
)

// prepared is what a ledger row needs to make or find the same call again.
type prepared struct {
	MediaIDs []string `json:"media_ids,omitempty"`
	ReplyTo  string   `json:"reply_to,omitempty"`
}

// prepare does everything that can be done before the time: it checks the
// content against today's limits, finds the post to answer, and uploads.
func (p *Publish) prepare(ctx context.Context, j *job) *network.Error {
	limits, err := j.adapter.Limits(ctx, j.account)
	if err != nil {
		return network.AsError(err)
	}
	content := network.Content{Text: j.post.Content, Media: desk.MediaInfos(j.files), Reply: j.post.ThreadParentID != nil}
	if problems := j.adapter.Check(content, limits); len(problems) > 0 {
		messages := make([]string, len(problems))
		for i, problem := range problems {
			messages[i] = problem.Message
		}
		return &network.Error{Class: network.Rejected, Code: problems[0].Code, Message: strings.Join(messages, " ")}
	}
	if problem := p.prepareReply(ctx, j); problem != nil {
		return problem
	}
	return p.stage(ctx, j)
}

// prepareReply waits for the post that this one answers.
func (p *Publish) prepareReply(ctx context.Context, j *job) *network.Error {
	if j.post.ThreadParentID == nil {
		return nil
	}
	status, remoteID, err := p.Store.Parent(ctx, *j.post.ThreadParentID, j.target.AccountID)
	switch {
	case err != nil:
		return &network.Error{Class: network.NotSent, Code: codeParentUnknown, Message: "The post to answer could not be read.", Err: err}
	case status == post.TargetPosted:
		j.submission.ReplyTo = remoteID
		return nil
	case status.Open(), status == post.TargetUncertain:
		return &network.Error{Class: network.Throttled, Code: codeParentWaiting, Scope: "post",
			Message: "The post that this one answers is not published yet."}
	default:
		return &network.Error{Class: network.Rejected, Code: "parent_not_published",
			Message: "The post that this one answers is " + string(status) + ", so there is nothing to answer."}
	}
}

// codeParentWaiting marks a reply whose time has come before its parent's.
const codeParentWaiting = "parent_waiting"

// Failures of what Dateline itself stands on. They delay a post for as long as
// they last, and use up no try.
const (
	codeParentUnknown = "parent_unknown"
	codeNotRecorded   = "not_recorded"
	codeUnreadable    = "attachment_unreadable"
)

func ours(e *network.Error) bool {
	return e.Code == codeParentUnknown || e.Code == codeNotRecorded || e.Code == codeUnreadable
}

// stage uploads the attachments, once per account and revision.
func (p *Publish) stage(ctx context.Context, j *job) *network.Error {
	if len(j.files) == 0 {
		return nil
	}
	staged := j.stagedBefore()
	for _, file := range j.files[len(staged):] {
		one, err := p.stageOne(ctx, j, file)
		if err != nil {
			return notPublished(network.AsError(err))
		}
		staged = append(staged, one)
		// After each, so that a failure of a later one repeats none: networks
		// allow few uploads.
		raw, err := json.Marshal(staged)
		if err == nil {
			err = p.Store.SetPlatformMedia(ctx, j.post.ID, j.post.Revision, j.target.AccountID, raw)
		}
		if err != nil {
			return &network.Error{Class: network.NotSent, Code: codeNotRecorded, Message: "The uploaded attachments could not be noted.", Err: err}
		}
	}
	for _, s := range staged {
		j.submission.MediaIDs = append(j.submission.MediaIDs, s.RemoteID)
	}
	return nil
}

// notPublished says that an upload with an unclear answer published nothing:
// it may be repeated.
func notPublished(e *network.Error) *network.Error {
	if e.Class == network.Ambiguous {
		e.Class = network.Transient
	}
	return e
}

func (p *Publish) stageOne(ctx context.Context, j *job, file media.Item) (network.Staged, error) {
	info := desk.MediaInfos([]media.Item{file})[0]
	var unreadable error
	open := func(ctx context.Context) (io.ReadCloser, error) {
		body, err := media.Reader(p.Objects, file)(ctx)
		unreadable = err
		return body, err
	}
	staged, err := j.adapter.Stage(ctx, j.account, network.Media{MediaInfo: info, FileName: file.FileName, Open: open})
	if err != nil && unreadable != nil {
		return staged, &network.Error{Class: network.NotSent, Code: codeUnreadable, Message: "The attachment " + file.FileName + " could not be read from the object storage.", Err: unreadable}
	}
	for err == nil && !staged.Ready {
		if err = sleepUntil(ctx, time.Now().Add(max(staged.CheckAfter, 500*time.Millisecond))); err != nil {
			return staged, &network.Error{Class: network.NotSent, Code: "interrupted", Message: "The upload was interrupted.", Err: err}
		}
		staged, err = j.adapter.StageStatus(ctx, j.account, staged)
	}
	return staged, err
}

// stagedBefore gives the handles of an earlier attempt, unless one expired.
func (j *job) stagedBefore() []network.Staged {
	var byAccount map[string][]network.Staged
	if json.Unmarshal(j.post.PlatformMedia, &byAccount) != nil {
		return nil
	}
	staged := byAccount[j.target.AccountID.String()]
	if len(staged) > len(j.files) {
		return nil
	}
	for _, s := range staged {
		if !s.Ready || (!s.ExpiresAt.IsZero() && time.Until(s.ExpiresAt) < time.Minute) {
			return nil
		}
	}
	return staged
}

// fingerprint identifies what is sent, so that the ledger can tell two
// contents apart.
func (j *job) fingerprint() []byte {
	h := sha256.New()
	raw, _ := json.Marshal([]any{norm.NFC.String(j.submission.Text), j.submission.ReplyTo, j.submission.Language}) // strings always marshal
	h.Write(raw)
	for _, f := range j.files {
		h.Write(f.SHA256)
	}
	return h.Sum(nil)
}

func (j *job) prepared() json.RawMessage {
	raw, _ := json.Marshal(prepared{MediaIDs: j.submission.MediaIDs, ReplyTo: j.submission.ReplyTo}) // strings always marshal
	return raw
}

// restore makes the submission the one that call was made with.
func (j *job) restore(call post.Call) {
	var was prepared
	if json.Unmarshal(call.Prepared, &was) == nil {
		j.submission.MediaIDs, j.submission.ReplyTo = was.MediaIDs, was.ReplyTo
	}
	j.submission.Key = call.IdempotencyKey
}
