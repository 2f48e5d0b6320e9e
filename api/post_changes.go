package api

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/workflows"
)

// PostChanges tells Temporal of changed posts and answers with them.
type PostChanges struct {
	Workflows Workflows
	// WorkflowURL links a workflow in the Temporal Web UI; nil: no links.
	WorkflowURL func(workflowID string) string
	Log         *slog.Logger
}

// signal signals Temporal about a change.
func (s *PostChanges) signal(ctx context.Context, p post.Post) {
	if p.Status == post.Draft && !p.Unscheduled {
		return
	}
	s.logSignalError(p, s.Workflows.SignalChanged(context.WithoutCancel(ctx), p.ID))
}

// logSignalError only logs that Temporal is down: the post is already stored, and
// the reconciler signals Temporal later.
func (s *PostChanges) logSignalError(p post.Post, err error) {
	if err != nil {
		s.Log.Warn("signaling Temporal failed; the reconciler retries", "post_id", p.ID, "error", err)
	}
}

func (s *PostChanges) change(
	ctx context.Context, id uuid.UUID, ifMatch *string, do func(post.Guard) (post.Post, error),
) (spec.PostJSONResponse, error) {
	who := principal(ctx)
	version, err := versionOf(ifMatch)
	if err != nil {
		return spec.PostJSONResponse{}, err
	}
	p, err := do(post.Guard{
		WorkspaceID: who.WorkspaceID, PostID: id, IfVersion: version, Actor: who.Actor(),
		UserID: who.UserID, IsAuthor: who.Role == workspace.Author,
	})
	if err != nil {
		return spec.PostJSONResponse{}, err
	}
	s.signal(ctx, p)
	return s.postAnswer(p), nil
}

// nudgeAll signals Temporal about many posts after the response was sent. The reconciler
// finds posts that it does not reach.
func (s *PostChanges) nudgeAll(ctx context.Context, posts []uuid.UUID) {
	inBackground(ctx, posts, func(ctx context.Context, id uuid.UUID) error {
		err := s.Workflows.SignalChanged(ctx, id)
		if err != nil {
			s.Log.WarnContext(ctx, "signaling Temporal failed; the reconciler retries", "post_id", id, "error", err)
		}
		return err
	})
}

func (s *PostChanges) postAnswer(p post.Post) spec.PostJSONResponse {
	tag := etag(p)
	answer := spec.PostJSONResponse{Body: s.postJSON(p)}
	answer.Headers.ETag = &tag
	return answer
}

func (s *PostChanges) postJSON(p post.Post) spec.Post {
	at := p.ScheduledTime
	if zone, err := timezone.Load(p.TimeZone); err == nil {
		at = at.In(zone)
	}
	out := spec.Post{
		Id: p.ID, Status: spec.PostStatus(p.Status), Content: p.Content, TimeZone: p.TimeZone,
		Language: optional.Of(p.Language), Attachments: p.AttachmentIDs, ThreadId: p.ThreadID,
		ThreadParentId: p.ThreadParentID, RetryCount: p.RetryCount, Version: p.Version, PostedAt: p.PostedAt,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, WorkflowId: workflows.PostID(p.ID), Targets: []spec.Target{},
	}
	if !p.ScheduledTime.IsZero() {
		out.ScheduledTime = &at
	}
	out.QueueGroupId = p.QueueGroupID
	if len(p.LabelIDs) > 0 {
		out.Labels = &p.LabelIDs
	}
	if p.Series != nil {
		out.SeriesId, out.Occurrence = &p.Series.SeriesID, &p.Series.Name
	}
	if len(p.Thread) > 0 {
		thread := segmentsJSON(p.Thread)
		out.Thread = &thread
	}
	out.Options = optionsJSON(p.Options)
	if p.LateLimit > 0 {
		minutes := int(p.LateLimit.Minutes())
		out.DropIfLateMinutes = &minutes
	}
	out.TrackLinks, out.Utm = optional.Of(p.LinkBase != ""), utmJSON(p.UTM)
	if s.WorkflowURL != nil {
		link := s.WorkflowURL(out.WorkflowId)
		out.WorkflowUrl = &link
	}
	for _, t := range p.Targets {
		out.Targets = append(out.Targets, targetJSON(p, t))
	}
	out.Approval = approvalJSON(p.Approval)
	out.Price = priceJSON(p.Price)
	if len(p.Warnings) > 0 {
		warnings := warningsJSON(p.Warnings, p.TimeZone)
		out.Warnings = &warnings
	}
	return out
}

func targetJSON(p post.Post, t post.Target) spec.Target {
	out := spec.Target{
		Id: t.ID, AccountId: t.AccountID, Network: t.Network, Handle: t.Handle,
		Status:   spec.TargetStatus(t.Status),
		Attempts: t.Attempts, RemoteId: optional.Of(t.RemoteID), Url: optional.Of(t.RemoteURL), SentAt: t.SentAt,
		PostedAt: t.PostedAt,
	}
	if o := t.Override; o != nil {
		out.Override = &spec.PostOverride{
			Content: o.Content, Attachments: o.AttachmentIDs, Options: (*spec.PostOptions)(o.Options),
		}
		if o.Thread != nil {
			thread := segmentsJSON(*o.Thread)
			out.Override.Thread = &thread
		}
	}
	if len(t.Published) > 0 {
		segments := make([]spec.PublishedSegment, len(t.Published))
		for i, one := range t.Published {
			segments[i] = spec.PublishedSegment{
				Segment: one.Segment, RemoteId: one.RemoteID, Url: optional.Of(one.RemoteURL), SentAt: one.SentAt,
				PostedAt: one.PostedAt,
			}
		}
		out.Segments = &segments
	}
	if len(t.Differences) > 0 {
		differences := make([]spec.Difference, len(t.Differences))
		for i, d := range t.Differences {
			differences[i] = spec.Difference{Segment: d.Segment, Code: d.Code, Message: d.Text}
			if d.Params != nil {
				differences[i].Params = (*spec.MessageParams)(&d.Params)
			}
		}
		out.Differences, out.NeedsReview = &differences, &t.NeedsReview
	}
	out.DeletedAt = t.DeletedAt
	if t.SentAt != nil {
		late := t.SentAt.Sub(p.ScheduledTime).Milliseconds()
		out.LateMs = &late
	}
	if t.ErrorMessage != "" && t.Status != post.TargetPosted {
		out.Error = &spec.TargetError{Class: t.ErrorClass, Code: optional.Of(t.ErrorCode), Message: t.ErrorMessage}
	}
	return out
}

func segmentsJSON(segments []post.Segment) []spec.PostSegment {
	out := make([]spec.PostSegment, len(segments))
	for i, s := range segments {
		out[i] = spec.PostSegment{
			Content: s.Content, Attachments: s.AttachmentIDs,
			AfterMinutes: optional.Of(s.AfterMinutes),
		}
		if out[i].Attachments == nil {
			out[i].Attachments = []uuid.UUID{}
		}
	}
	return out
}

func draftOf(body *spec.PostCreate) scheduling.Draft {
	d := scheduling.Draft{
		Content: body.Content, ScheduledTime: optional.Value(body.ScheduledTime),
		SaveAsDraft: optional.Value(body.Draft),
		TimeZone:    optional.Value(body.TimeZone), Attachments: optional.Value(body.Attachments),
		Accounts:       optional.Value(body.Accounts),
		ThreadParentID: optional.Value(body.ThreadParentId), Language: optional.Value(body.Language),
		LateLimit:  optional.Value(body.DropIfLateMinutes),
		TrackLinks: optional.Value(body.TrackLinks), UTM: utmOf(optional.Value(body.Utm)),
		Options: optional.Value(optionsOf(body.Options)),
		Labels:  optional.Value(body.Labels),
		When:    string(optional.Value(body.When)), QueueGroupID: optional.Value(body.QueueGroupId),
		Thread: optional.Value(threadOf(body.Thread)), Overrides: map[string]scheduling.Override{},
	}
	for account, o := range optional.Value(body.Overrides) {
		d.Overrides[account] = overrideOf(o)
	}
	return d
}

func threadOf(thread *spec.Thread) *[]scheduling.Segment {
	if thread == nil {
		return nil
	}
	out := make([]scheduling.Segment, len(*thread))
	for i, s := range *thread {
		out[i] = scheduling.Segment{
			Content: s.Content, Attachments: optional.Value(s.Attachments),
			AfterMinutes: optional.Value(s.AfterMinutes),
		}
	}
	return &out
}

func optionsOf(options *spec.PostOptions) *post.Options { return (*post.Options)(options) }

// optionsJSON leaves out options that ask for nothing.
func optionsJSON(options post.Options) *spec.PostOptions {
	if len(options) == 0 {
		return nil
	}
	return (*spec.PostOptions)(&options)
}

func overrideOf(o spec.Override) scheduling.Override {
	return scheduling.Override{
		Content: o.Content, Attachments: o.Attachments, Thread: threadOf(o.Thread), Options: optionsOf(o.Options),
	}
}

func changedOverrides(in *map[string]*spec.Override) map[string]*scheduling.Override {
	out := make(map[string]*scheduling.Override, len(optional.Value(in)))
	for account, o := range optional.Value(in) {
		if o == nil {
			out[account] = nil
			continue
		}
		read := overrideOf(*o)
		out[account] = &read
	}
	return out
}
