package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/retry"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// stage uploads the attachments of what is not out yet, once per account for as
// long as the post's media stay the same and the network keeps them.
func (p *Publisher) stage(ctx context.Context, j *job) *network.Error {
	for i := j.next(); i < len(j.segments); i++ {
		s := &j.segments[i]
		s.staged = nil
		for n, file := range s.files {
			name := handleName(i, file)
			one, good, problem := p.kept(ctx, j, i, name)
			if problem != nil {
				return problem
			}
			if !good || !one.Ready {
				var err error
				if one, err = p.stageOne(ctx, j, s.sent()[n]); err != nil {
					return notPublished(network.AsError(err))
				}
				// After each, so that a failure of a later one repeats none: networks
				// allow few uploads.
				j.handles()[name] = one
				if problem := p.keepHandles(ctx, j); problem != nil {
					return problem
				}
			}
			s.staged = append(s.staged, one)
		}
	}
	return nil
}

// handleName tells an upload from others, also of the same file with another
// description, which is handed over with it.
func handleName(segment int, file media.Item) string {
	description := sha256.Sum256([]byte(file.AltText))
	return fmt.Sprintf("%d/%s/%x", segment, file.ID, description[:4])
}

func (p *Publisher) keepHandles(ctx context.Context, j *job) *network.Error {
	raw, err := json.Marshal(j.handles())
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
func (p *Publisher) stageAgain(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	since, unclear, err := p.Store.UnresolvedSince(ctx, j.target.ID, call.Segment, call.OperationID)
	if err != nil {
		return TargetResult{}, err
	}
	if unclear {
		call.SentAt = since
		return p.reconcile(ctx, j, call, e)
	}
	p.forget(ctx, j, call.Segment)
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

func (p *Publisher) stageOne(ctx context.Context, j *job, file media.Item) (network.Staged, error) {
	unreadable := &reading{}
	staged, err := p.meteredUpload(ctx, j, unreadable.watch(j.media(file)))
	if err != nil && unreadable.failed() != nil {
		return staged, unreadable.problem()
	}
	for err == nil && !staged.Ready {
		if err = retry.Sleep(ctx, max(staged.CheckAfter, 500*time.Millisecond)); err != nil {
			return staged, interruptedUpload(err)
		}
		staged, err = j.adapter.StageStatus(ctx, j.account, staged)
	}
	return staged, err
}

func interruptedUpload(err error) *network.Error {
	return &network.Error{Class: network.NotSent, Code: "interrupted", Message: "The upload was interrupted.", Err: err}
}

// ready has the network make the next segment ready, where it does such a
// thing and all that the call needs is known. What comes of it is kept, so that
// every attempt shares it: while one send of it is unclear, there is no second.
func (p *Publisher) ready(ctx context.Context, j *job) *network.Error {
	preparer, ok := j.adapter.(network.Preparer)
	i := j.next()
	if !ok || i >= len(j.segments) || j.segments[i].handle != "" {
		return nil
	}
	s := j.submission(i)
	name := postHandle(i, j.fingerprint(i, s))
	one, known, problem := p.kept(ctx, j, i, name)
	if problem != nil {
		return problem
	}
	for !known || !one.Ready {
		if known {
			if err := retry.Sleep(ctx, max(one.CheckAfter, 100*time.Millisecond)); err != nil {
				return interruptedUpload(err)
			}
		}
		s.Handle = one.RemoteID
		now, err := preparer.Prepare(ctx, j.account, s)
		p.observe(ctx, j, j.use(), now.Rates, network.AsError(err))
		if err != nil {
			e := notPublished(network.AsError(err))
			if e.Code == network.CodeMediaExpired {
				p.forget(ctx, j, i)
			}
			return e
		}
		one, known = network.Staged{RemoteID: now.Handle, Ready: now.Ready, CheckAfter: now.CheckAfter, ExpiresAt: now.ExpiresAt}, true
		maps.DeleteFunc(j.handles(), func(other string, _ network.Staged) bool { return strings.HasPrefix(other, postHandle(i, nil)) })
		j.handles()[name] = one
		if problem := p.keepHandles(ctx, j); problem != nil {
			return problem
		}
	}
	j.segments[i].handle = one.RemoteID
	return nil
}

// postHandle names what Preparer gave for a content of a segment.
func postHandle(segment int, fingerprint []byte) string {
	return fmt.Sprintf("%d/post/%x", segment, fingerprint)
}

// forget drops what the network does not have any more of a segment.
func (p *Publisher) forget(ctx context.Context, j *job, segment int) {
	maps.DeleteFunc(j.handles(), func(name string, _ network.Staged) bool {
		return strings.HasPrefix(name, strconv.Itoa(segment)+"/")
	})
	if problem := p.keepHandles(context.WithoutCancel(ctx), j); problem != nil {
		p.Log.WarnContext(ctx, "what the network dropped is tried again", "post_id", j.post.ID, "error", problem)
	}
}

// handles are what an earlier attempt staged, by segment and file, and prepared.
func (j *job) handles() map[string]network.Staged {
	if j.kept != nil {
		return j.kept
	}
	var byAccount map[string]map[string]network.Staged
	if json.Unmarshal(j.post.PlatformMedia, &byAccount) == nil {
		j.kept = byAccount[j.target.AccountID.String()]
	}
	if j.kept == nil {
		j.kept = map[string]network.Staged{}
	}
	return j.kept
}

// kept finds what an earlier attempt staged or prepared for a segment; false:
// there is nothing that lasts as long as it is needed.
//
// While a send of it is unclear, nothing takes its place, however soon it ends:
// the network may still act on that send, and only as long as the next one
// names the same upload, container or key does it know that they are one post.
func (p *Publisher) kept(ctx context.Context, j *job, segment int, name string) (network.Staged, bool, *network.Error) {
	one, ok := j.handles()[name]
	if !ok || !expiring(one, j.post.ScheduledTime) {
		return one, ok, nil
	}
	_, unclear, err := p.Store.UnresolvedSince(ctx, j.target.ID, segment, uuid.Nil)
	if err != nil {
		return network.Staged{}, false, &network.Error{Class: network.NotSent, Code: codeNotRecorded, Message: "What was sent before could not be read.", Err: err}
	}
	if !unclear {
		return network.Staged{}, false, nil
	}
	return one, true, nil
}

// expiring says that a handle is no good any more, or not for long enough to
// wait for the post's time with it.
func expiring(s network.Staged, due time.Time) bool {
	needed := max(time.Until(due), 0) + time.Minute
	return !s.ExpiresAt.IsZero() && time.Until(s.ExpiresAt) < needed
}
