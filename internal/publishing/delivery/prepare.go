package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"dateline/internal/infra/message"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/network"
)

// preparer does everything that can be done before the post's time.
type preparer struct {
	posts  PostStore
	tokens *tokens
	stager *stager
}

// prepare checks the content against the current limits, finds the post to reply
// to, and uploads.
func (p *preparer) prepare(ctx context.Context, j *job) *network.Error {
	if problem := p.checkContent(ctx, j); problem != nil {
		return problem
	}
	if problem := p.findParent(ctx, j); problem != nil {
		return problem
	}
	if problem := p.stager.render(ctx, j); problem != nil {
		return problem
	}
	if problem := p.stager.stage(ctx, j); problem != nil {
		return problem
	}
	return p.stager.prepareSegment(ctx, j)
}

// prepareAhead prepares everything that does not depend on the post's parent, which may
// not be published yet.
func (p *preparer) prepareAhead(ctx context.Context, j *job) *network.Error {
	problem := p.checkContent(ctx, j)
	if problem == nil {
		problem = p.stager.stage(ctx, j)
	}
	if problem == nil && j.post.ThreadParentID == nil {
		problem = p.stager.prepareSegment(ctx, j)
	}
	return problem
}

func (p *preparer) checkContent(ctx context.Context, j *job) *network.Error {
	if problem := p.tokens.ensureFresh(ctx, j); problem != nil {
		return problem
	}
	limits, err := j.adapter.Limits(ctx, j.account)
	if err != nil {
		return network.AsError(err)
	}
	j.limits = limits
	for i := j.next(); i < len(j.segments); i++ {
		s := j.segments[i]
		content := network.Content{
			Text: s.Content, Media: scheduling.MediaInfos(p.stager.planned(j, s.files)),
			Reply:   i > 0 || j.post.ThreadParentID != nil,
			Options: scheduling.SegmentOptions(j.options, i),
		}
		problems := append(slices.Clone(j.invalid), j.adapter.Check(content, limits)...)
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
		e := &network.Error{Class: network.Rejected, Code: problems[0].Code, Message: text}
		if text == problems[0].Message {
			e.Params = message.Params{}
			maps.Copy(e.Params, problems[0].Params)
		}
		return e
	}
	return nil
}

// findParent finds the post that this one replies to.
func (p *preparer) findParent(ctx context.Context, j *job) *network.Error {
	if j.post.ThreadParentID == nil {
		return nil
	}
	status, remoteID, err := p.posts.Parent(ctx, *j.post.ThreadParentID, j.target.AccountID)
	switch {
	case err != nil:
		return &network.Error{
			Class: network.NotSent, Code: codeParentUnknown,
			Message: "The post to reply to could not be read.", Err: err,
		}
	case status == post.TargetPosted:
		j.parent = remoteID
		return nil
	case status.IsOpen(), status == post.TargetUncertain:
		return &network.Error{
			Class: network.Throttled, Code: codeParentWaiting, Scope: "post",
			Message: "The post that this one replies to is not published yet.",
		}
	default:
		return &network.Error{
			Class: network.Rejected, Code: "parent_not_published",
			Message: "The post that this one replies to is " + string(status) + ", so there is nothing to reply to.",
		}
	}
}

// prepared is the data of a ledger row that is needed to repeat or find the same call.
type prepared struct {
	MediaIDs []string `json:"media_ids,omitempty"`
	ReplyTo  string   `json:"reply_to,omitempty"`
	Handle   string   `json:"handle,omitempty"`
}

// submission is the call for one segment. Its key is the same for all sends of this
// content to this account, in all attempts.
func (j *job) submission(i int) network.Submission {
	segment := j.segments[i]
	s := network.Submission{
		Text: segment.Content, Language: j.post.Language, ReplyTo: j.parent, Handle: segment.handle,
		Options: scheduling.SegmentOptions(j.options, i), Due: j.post.ScheduledTime,
	}
	for _, staged := range segment.staged {
		s.MediaIDs = append(s.MediaIDs, staged.RemoteID)
	}
	for _, file := range segment.toSend() {
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

// key is derived from the content and not from the post's revision: a new time does not
// change what an earlier send may have published.
func (j *job) key(i int, s network.Submission) string {
	name := append([]byte(strconv.Itoa(i)+"/"), j.fingerprint(i, s)...)
	return uuid.NewSHA1(j.target.ID, name).String()
}

// fingerprint identifies the content, so that the ledger can distinguish contents.
func (j *job) fingerprint(i int, s network.Submission) []byte {
	h := sha256.New()
	raw, _ := json.Marshal([]any{norm.NFC.String(s.Text), s.ReplyTo, s.Language}) // strings always marshal
	h.Write(raw)
	for _, f := range j.segments[i].files {
		h.Write(f.SHA256)
	}
	if s.Options != nil {
		raw, _ := json.Marshal(s.Options) // was read from JSON
		h.Write(append([]byte("options"), raw...))
	}
	return h.Sum(nil)
}

func preparedOf(s network.Submission) json.RawMessage {
	// Strings always marshal
	raw, _ := json.Marshal(prepared{MediaIDs: s.MediaIDs, ReplyTo: s.ReplyTo, Handle: s.Handle})
	return raw
}

// restored is the submission of a recorded call. A call without a key is only assumed,
// after a database was restored: it would have been the same as now.
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
