package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/network"
)

// prepared is what a ledger row needs to make or find the same call again.
type prepared struct {
	MediaIDs []string `json:"media_ids,omitempty"`
	ReplyTo  string   `json:"reply_to,omitempty"`
	Handle   string   `json:"handle,omitempty"`
}

// prepare does everything that can be done before the time: it checks the
// content against today's limits, finds the post to answer, and uploads.
func (p *Publisher) prepare(ctx context.Context, j *job) *network.Error {
	if problem := p.checkContent(ctx, j); problem != nil {
		return problem
	}
	if problem := p.prepareReply(ctx, j); problem != nil {
		return problem
	}
	if problem := p.fit(ctx, j); problem != nil {
		return problem
	}
	if problem := p.stage(ctx, j); problem != nil {
		return problem
	}
	return p.ready(ctx, j)
}

func (p *Publisher) checkContent(ctx context.Context, j *job) *network.Error {
	if problem := p.freshen(ctx, j); problem != nil {
		return problem
	}
	limits, err := j.adapter.Limits(ctx, j.account)
	if err != nil {
		return network.AsError(err)
	}
	j.limits = limits
	for i := j.next(); i < len(j.segments); i++ {
		s := j.segments[i]
		content := network.Content{Text: s.Content, Media: scheduling.MediaInfos(p.asSent(j, s.files)), Reply: i > 0 || j.post.ThreadParentID != nil}
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
func (p *Publisher) prepareReply(ctx context.Context, j *job) *network.Error {
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

// submission is the call for one segment. Its key is the same for all sends of
// this content to this account, whichever attempt makes them.
func (j *job) submission(i int) network.Submission {
	segment := j.segments[i]
	s := network.Submission{Text: segment.Content, Language: j.post.Language, ReplyTo: j.parent, Handle: segment.handle}
	for _, staged := range segment.staged {
		s.MediaIDs = append(s.MediaIDs, staged.RemoteID)
	}
	for _, file := range segment.sent() {
		s.Media = append(s.Media, j.media(file))
	}
	if i > 0 && len(j.published) >= i {
		s.ReplyTo = j.published[i-1].RemoteID
		if j.parent == "" {
			s.RootID = j.published[0].RemoteID
		}
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
	raw, _ := json.Marshal(prepared{MediaIDs: s.MediaIDs, ReplyTo: s.ReplyTo, Handle: s.Handle}) // strings always marshal
	return raw
}

// restored is the submission that call was made with. One without a key is only
// supposed, since a database was restored: it would have been made as now.
func (j *job) restored(call post.Call) network.Submission {
	s := j.submission(call.Segment)
	if call.IdempotencyKey == "" {
		return s
	}
	var was prepared
	if json.Unmarshal(call.Prepared, &was) == nil {
		s.MediaIDs, s.ReplyTo, s.Handle = was.MediaIDs, was.ReplyTo, was.Handle
	}
	s.Key = call.IdempotencyKey
	return s
}
