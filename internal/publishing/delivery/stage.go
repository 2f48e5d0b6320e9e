package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/retry"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/network"
)

// Renderer converts images to what a network accepts.
type Renderer interface {
	Render(ctx context.Context, item media.Item, spec media.Spec) (media.Item, error)
}

// stager renders and uploads attachments, and has networks prepare calls.
type stager struct {
	store     StagingStore
	ledger    LedgerStore
	admission *admission
	renderer  Renderer // nil: images are sent as they are
	log       *slog.Logger
}

// planned are files as they are going to be sent.
func (s *stager) planned(j *job, files []media.Item) []media.Item {
	if s.renderer == nil {
		return files
	}
	return scheduling.ConvertedItems(files, j.limits)
}

// render converts the unpublished files to what the network accepts. The content is
// identified by the original files (job.fingerprint), so that other limits at a later
// attempt do not create a second post.
func (s *stager) render(ctx context.Context, j *job) *network.Error {
	if s.renderer == nil {
		return nil
	}
	for i := j.next(); i < len(j.segments); i++ {
		segment := &j.segments[i]
		segment.rendered = nil
		for _, file := range segment.files {
			one, problem := s.renderFile(ctx, file, scheduling.Rules(j.limits))
			if problem != nil {
				return problem
			}
			segment.rendered = append(segment.rendered, one)
		}
	}
	return nil
}

func (s *stager) renderFile(ctx context.Context, file media.Item, rules media.Rules) (media.Item, *network.Error) {
	plan := media.Fit(file, rules)
	if plan.Convert == nil {
		return file, nil
	}
	made, err := s.renderer.Render(ctx, file, *plan.Convert)
	switch {
	case errors.Is(err, media.ErrCannotRender):
		return file, &network.Error{
			Class: network.Rejected, Code: "attachment_unfit",
			Message: "The network does not accept the attachment " + file.FileName + ", and it could not be converted.",
			Err:     err,
		}
	case err != nil:
		return file, &network.Error{
			Class: network.NotSent, Code: codeUnreadable,
			Message: "The attachment " + file.FileName + " could not be converted, because the object storage or the " +
				"database is not available.", Err: err,
		}
	}
	return made, nil
}

// toSend are the files of a segment as the network gets them.
func (s *segment) toSend() []media.Item {
	if s.rendered == nil {
		return s.files
	}
	return s.rendered
}

// stage uploads the attachments of the unpublished segments, once per account as long
// as the post's media stay the same and the network stores them.
func (s *stager) stage(ctx context.Context, j *job) *network.Error {
	for i := j.next(); i < len(j.segments); i++ {
		segment := &j.segments[i]
		segment.staged = nil
		for n, file := range segment.files {
			name := uploadName(i, file)
			one, usable, problem := s.stored(ctx, j, i, name)
			if problem != nil {
				return problem
			}
			if !usable || !one.Ready {
				var err error
				if one, err = s.stageFile(ctx, j, i, segment.toSend()[n]); err != nil {
					return notPublished(network.AsError(err))
				}
				// After each one, so that a later failure repeats none of them:
				// networks allow few uploads.
				j.storedHandles()[name] = one
				if problem := s.saveHandles(ctx, j); problem != nil {
					return problem
				}
			}
			segment.staged = append(segment.staged, one)
		}
	}
	return nil
}

// uploadName distinguishes an upload from others, also of the same file with another
// description, which is uploaded with it.
func uploadName(segment int, file media.Item) string {
	description := sha256.Sum256([]byte(file.AltText))
	return fmt.Sprintf("%d/%s/%x", segment, file.ID, description[:4])
}

func (s *stager) saveHandles(ctx context.Context, j *job) *network.Error {
	raw, err := json.Marshal(j.storedHandles())
	if err == nil {
		err = s.store.SetPlatformMedia(ctx, j.post.ID, j.post.Revision, j.target.AccountID, raw)
	}
	if err != nil {
		return &network.Error{
			Class: network.NotSent, Code: codeNotRecorded,
			Message: "The uploaded attachments could not be recorded.", Err: err,
		}
	}
	return nil
}

// notPublished marks an ambiguous upload as safe to repeat: it published nothing.
func notPublished(e *network.Error) *network.Error {
	if e.Class == network.Ambiguous {
		e.Class = network.Transient
	}
	return e
}

func (s *stager) stageFile(ctx context.Context, j *job, segment int, file media.Item) (network.Staged, error) {
	reads, attachment := &readMonitor{}, j.media(file)
	attachment.Options = scheduling.SegmentOptions(j.options, segment)
	staged, err := s.admission.upload(ctx, j, reads.watch(attachment))
	if err != nil && reads.hasFailed() {
		return staged, reads.problem()
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

// prepareSegment lets the network prepare the next segment, if it is a Preparer and
// everything that the call needs is known. The result is saved, so that every attempt
// shares it: while one send of it is unresolved, there is no second.
func (s *stager) prepareSegment(ctx context.Context, j *job) *network.Error {
	preparer, ok := j.adapter.(network.Preparer)
	i := j.next()
	if !ok || i >= len(j.segments) || j.segments[i].handle != "" {
		return nil
	}
	submission := j.submission(i)
	name := preparedName(i, j.fingerprint(i, submission))
	one, known, problem := s.stored(ctx, j, i, name)
	if problem != nil {
		return problem
	}
	for !known || !one.Ready {
		if known {
			if err := retry.Sleep(ctx, max(one.CheckAfter, 100*time.Millisecond)); err != nil {
				return interruptedUpload(err)
			}
		}
		submission.Handle = one.RemoteID
		now, err := preparer.Prepare(ctx, j.account, submission)
		s.admission.observe(ctx, j, j.callKind(), now.Rates, network.AsError(err))
		if err != nil {
			e := notPublished(network.AsError(err))
			if e.Code == network.CodeMediaExpired {
				s.dropHandles(ctx, j, i)
			}
			return e
		}
		one, known = network.Staged{
			RemoteID: now.Handle, Ready: now.Ready, CheckAfter: now.CheckAfter,
			ExpiresAt: now.ExpiresAt,
		}, true
		maps.DeleteFunc(j.storedHandles(), func(other string, _ network.Staged) bool {
			return strings.HasPrefix(other, preparedName(i, nil))
		})
		j.storedHandles()[name] = one
		if problem := s.saveHandles(ctx, j); problem != nil {
			return problem
		}
	}
	j.segments[i].handle = one.RemoteID
	return nil
}

// preparedName names the handle of a Preparer for a content of a segment.
func preparedName(segment int, fingerprint []byte) string {
	return fmt.Sprintf("%d/post/%x", segment, fingerprint)
}

// dropHandles drops the handles of a segment that the network no longer has.
func (s *stager) dropHandles(ctx context.Context, j *job, segment int) {
	maps.DeleteFunc(j.storedHandles(), func(name string, _ network.Staged) bool {
		return strings.HasPrefix(name, strconv.Itoa(segment)+"/")
	})
	if problem := s.saveHandles(context.WithoutCancel(ctx), j); problem != nil {
		s.log.WarnContext(ctx, "dropping expired uploads failed; they are tried again", "post_id", j.post.ID, "error",
			problem)
	}
}

// storedHandles are what an earlier attempt staged, by segment and file, and
// prepared.
func (j *job) storedHandles() map[string]network.Staged {
	if j.handles != nil {
		return j.handles
	}
	var byAccount map[string]map[string]network.Staged
	if json.Unmarshal(j.post.PlatformMedia, &byAccount) == nil {
		j.handles = byAccount[j.target.AccountID.String()]
	}
	if j.handles == nil {
		j.handles = map[string]network.Staged{}
	}
	return j.handles
}

// stored returns what an earlier attempt staged or prepared for a segment; false:
// nothing is valid for long enough.
//
// While a send of it is unresolved, nothing replaces it, however soon it expires: the
// network may still act on that send, and it detects the duplicate only if the next one
// names the same upload, container or key.
func (s *stager) stored(ctx context.Context, j *job, segment int, name string) (network.Staged, bool, *network.Error) {
	one, ok := j.storedHandles()[name]
	if !ok || !isExpiring(one, j.post.ScheduledTime) {
		return one, ok, nil
	}
	_, unresolved, err := s.ledger.UnresolvedSince(ctx, j.target.ID, segment, uuid.Nil)
	if err != nil {
		return network.Staged{}, false, &network.Error{
			Class: network.NotSent, Code: codeNotRecorded, Message: "Earlier sends could not be read.", Err: err,
		}
	}
	if !unresolved {
		return network.Staged{}, false, nil
	}
	return one, true, nil
}

// isExpiring reports whether a handle is no longer valid, or not long enough for the
// post's time.
func isExpiring(s network.Staged, due time.Time) bool {
	needed := max(time.Until(due), 0) + time.Minute
	return !s.ExpiresAt.IsZero() && time.Until(s.ExpiresAt) < needed
}
