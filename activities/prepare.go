package activities

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
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
	if problem := p.checkContent(ctx, j); problem != nil {
		return problem
	}
	if problem := p.prepareReply(ctx, j); problem != nil {
		return problem
	}
	return p.stage(ctx, j)
}

func (p *Publish) checkContent(ctx context.Context, j *job) *network.Error {
	limits, err := j.adapter.Limits(ctx, j.account)
	if err != nil {
		return network.AsError(err)
	}
	j.limits = limits
	for i := j.next(); i < len(j.segments); i++ {
		s := j.segments[i]
		content := network.Content{Text: s.Content, Media: desk.MediaInfos(s.files), Reply: i > 0 || j.post.ThreadParentID != nil}
		problems := j.adapter.Check(content, limits)
		if len(problems) == 0 {
			continue
		}
		messages := make([]string, len(problems))
		for n, problem := range problems {
			messages[n] = problem.Message
		}
		text := strings.Join(messages, " ")
		if len(j.segments) > 1 {
			text = fmt.Sprintf("Segment %d of %d: %s", i+1, len(j.segments), text)
		}
		return &network.Error{Class: network.Rejected, Code: problems[0].Code, Message: text}
	}
	return nil
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
		j.parent = remoteID
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

// stage uploads the attachments of what is not out yet, once per account for as
// long as the post's media stay the same and the network keeps them.
func (p *Publish) stage(ctx context.Context, j *job) *network.Error {
	handles := j.stagedBefore()
	for i := j.next(); i < len(j.segments); i++ {
		s := &j.segments[i]
		s.staged = nil
		for _, file := range s.files {
			name := handleName(i, file)
			one, ok := handles[name]
			if !ok || expired(one, j.post.ScheduledTime) {
				var err error
				if one, err = p.stageOne(ctx, j, file); err != nil {
					return notPublished(network.AsError(err))
				}
				// After each, so that a failure of a later one repeats none: networks
				// allow few uploads.
				handles[name] = one
				if problem := p.keepHandles(ctx, j, handles); problem != nil {
					return problem
				}
			}
			s.staged = append(s.staged, one)
		}
	}
	return nil
}

func handleName(segment int, file media.Item) string { return fmt.Sprintf("%d/%s", segment, file.ID) }

func (p *Publish) keepHandles(ctx context.Context, j *job, handles map[string]network.Staged) *network.Error {
	raw, err := json.Marshal(handles)
	if err == nil {
		err = p.Store.SetPlatformMedia(ctx, j.post.ID, j.post.Revision, j.target.AccountID, raw)
	}
	if err != nil {
		return &network.Error{Class: network.NotSent, Code: codeNotRecorded, Message: "The uploaded attachments could not be noted.", Err: err}
	}
	return nil
}

// stageAgain follows a send that was refused because the network has dropped
// the uploads. When it is not certain that all earlier sends failed, one of
// them may have made a post that has them: it is looked for.
func (p *Publish) stageAgain(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	since, unclear, err := p.Store.UnclearSince(ctx, j.target.ID, call.Segment, call.OperationID)
	if err != nil {
		return TargetResult{}, err
	}
	if unclear {
		call.SentAt = since
		return p.reconcile(ctx, j, call, e)
	}
	handles := map[string]network.Staged{}
	for i, s := range j.segments {
		for n, one := range s.staged {
			if i != call.Segment {
				handles[handleName(i, s.files[n])] = one
			}
		}
	}
	if problem := p.keepHandles(context.WithoutCancel(ctx), j, handles); problem != nil {
		return TargetResult{}, problem
	}
	return p.retry(ctx, j, call, e)
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
	staged, err := p.meteredUpload(ctx, j, network.Media{MediaInfo: info, FileName: file.FileName, Open: open})
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

// stagedBefore gives the handles of an earlier attempt, by segment and file.
func (j *job) stagedBefore() map[string]network.Staged {
	var byAccount map[string]map[string]network.Staged
	if json.Unmarshal(j.post.PlatformMedia, &byAccount) == nil {
		if staged := byAccount[j.target.AccountID.String()]; staged != nil {
			return staged
		}
	}
	return map[string]network.Staged{}
}

// expired says that a handle is no good any more, or not for long enough to
// wait for the post's time with it.
func expired(s network.Staged, due time.Time) bool {
	needed := max(time.Until(due), 0) + time.Minute
	return !s.Ready || (!s.ExpiresAt.IsZero() && time.Until(s.ExpiresAt) < needed)
}

// submission is the call for one segment. Its key is the same for all sends of
// this content to this account, whichever attempt makes them.
func (j *job) submission(i int) network.Submission {
	s := network.Submission{Text: j.segments[i].Content, Language: j.post.Language, ReplyTo: j.parent}
	for _, staged := range j.segments[i].staged {
		s.MediaIDs = append(s.MediaIDs, staged.RemoteID)
	}
	if i > 0 && len(j.published) >= i {
		s.ReplyTo = j.published[i-1].RemoteID
	}
	s.Key = j.key(i, s)
	return s
}

// key follows from what is sent and not from the post's revision: a new time
// changes nothing of what an earlier send may have made.
func (j *job) key(i int, s network.Submission) string {
	name := append([]byte(strconv.Itoa(i)+"/"), j.fingerprint(i, s)...)
	return uuid.NewSHA1(j.target.ID, name).String()
}

// fingerprint identifies what is sent, so that the ledger can tell two
// contents apart.
func (j *job) fingerprint(i int, s network.Submission) []byte {
	h := sha256.New()
	raw, _ := json.Marshal([]any{norm.NFC.String(s.Text), s.ReplyTo, s.Language}) // strings always marshal
	h.Write(raw)
	for _, f := range j.segments[i].files {
		h.Write(f.SHA256)
	}
	return h.Sum(nil)
}

func preparedOf(s network.Submission) json.RawMessage {
	raw, _ := json.Marshal(prepared{MediaIDs: s.MediaIDs, ReplyTo: s.ReplyTo}) // strings always marshal
	return raw
}

// restored is the submission that call was made with.
func (j *job) restored(call post.Call) network.Submission {
	s := j.submission(call.Segment)
	var was prepared
	if json.Unmarshal(call.Prepared, &was) == nil {
		s.MediaIDs, s.ReplyTo = was.MediaIDs, was.ReplyTo
	}
	s.Key = call.IdempotencyKey
	return s
}
