package scheduling

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/recurrence"
)

// How far ahead occurrences become posts: far enough to plan a month in the calendar.
// The next occurrence always becomes a post.
const (
	materializeWindow = 35 * 24 * time.Hour
	maxMaterialized   = 100
)

// Materialize updates the posts of a series to match its rule and returns the changed
// posts. It is idempotent, also under concurrency.
func (s *Scheduler) Materialize(ctx context.Context, id uuid.UUID) ([]uuid.UUID, error) {
	series, err := s.Store.Series(ctx, id)
	if err != nil || series.Status == post.SeriesEnded {
		return nil, err
	}
	workspace, err := s.Store.Workspace(ctx, series.WorkspaceID)
	if err != nil {
		return nil, err
	}
	m := &materializer{scheduler: s, series: series, now: s.now(), check: s.check(workspace)}
	if err := json.Unmarshal(series.Template, &m.template); err != nil {
		return nil, err
	}
	err = m.run(ctx)
	for _, id := range m.changed {
		s.Notifier.Changed(ctx, id)
	}
	return m.changed, err
}

// materializeNow materializes a series right after a change and returns the series.
func (s *Scheduler) materializeNow(ctx context.Context, series post.Series) (post.Series, []uuid.UUID, error) {
	changed, err := s.Materialize(ctx, series.ID)
	if err != nil {
		// The change is stored; the next scheduled run continues from it.
		s.Log.WarnContext(ctx, "a series has not made all its posts yet", "series_id", series.ID, "error", err)
	}
	series, err = s.Store.Series(ctx, series.ID)
	return series, changed, err
}

// materializer creates and updates the posts of one series.
type materializer struct {
	scheduler *Scheduler
	series    post.Series
	template  Draft
	now       time.Time
	check     *check
	changed   []uuid.UUID
	lastError message.Messages
}

func (m *materializer) run(ctx context.Context) error {
	posts, notes, err := m.scheduler.loadOccurrences(ctx, m.series, m.series.CheckedUntil)
	if err != nil {
		return err
	}
	wanted, missed, over, err := m.plan(posts, notes)
	if err != nil {
		return err
	}
	for name, p := range posts {
		if _, ok := wanted[name]; !ok && p.Series.IsUnmodified && p.ScheduledTime.After(m.now) &&
			(p.Status == post.Scheduled || p.Status == post.Draft) {
			if err := m.withdraw(ctx, p); err != nil {
				return err
			}
		}
	}
	var failed error
	for name, o := range wanted {
		if o.isLater {
			continue
		}
		p, ok := posts[name]
		switch {
		case !ok:
			err = m.create(ctx, o.Occurrence)
		case p.Series.IsUnmodified && m.needsUpdate(p, o.Occurrence):
			err = m.update(ctx, p, o.Occurrence)
		}
		if err != nil { // one failing occurrence does not stop the others
			failed = errors.Join(failed, err)
			err = nil
		}
	}
	if failed != nil {
		return failed
	}
	ok, err := m.scheduler.Store.SeriesChecked(ctx, m.series, m.now, missed, m.lastError)
	if err == nil && ok && over {
		_, err = m.scheduler.Store.SetSeriesStatus(ctx, m.guard(m.series.ID, m.series.Version), post.SeriesEnded)
	}
	return err
}

// wantedOccurrence is an occurrence that becomes a post now or, beyond the window, later.
type wantedOccurrence struct {
	recurrence.Occurrence
	isLater bool
}

// plan returns the occurrences that become posts, and those that were missed. over
// means that no occurrence is left.
func (m *materializer) plan(
	posts map[string]post.Post, notes map[string]post.SeriesException,
) (wanted map[string]wantedOccurrence, missed []post.SeriesException, over bool, err error) {
	rule, starts, zone, err := parseSchedule(m.series)
	if err != nil || m.series.Status == post.SeriesPaused {
		return nil, nil, false, err
	}
	wanted, over = map[string]wantedOccurrence{}, true
	last := m.now.Add(materializeWindow)
	for _, p := range posts {
		if p.ScheduledTime.After(last) {
			last = p.ScheduledTime
		}
	}
	for o := range rule.Occurrences(starts, zone) {
		name := o.Name()
		if !o.At.After(m.now) {
			if reason, ok := m.missedReason(o, posts, notes); ok {
				missed = append(missed, post.SeriesException{Occurrence: name, Reason: reason})
			}
			continue
		}
		over = false
		if len(wanted) > 0 && o.At.After(last) {
			break
		}
		if _, noted := notes[name]; !noted {
			wanted[name] = wantedOccurrence{
				o, len(wanted) > 0 && (o.At.After(m.now.Add(materializeWindow)) || len(wanted) >= maxMaterialized),
			}
		}
	}
	return wanted, missed, over, nil
}

// missedReason reports whether an occurrence passed without becoming a post, and why.
// Such an occurrence is not published late.
func (m *materializer) missedReason(
	o recurrence.Occurrence, posts map[string]post.Post, notes map[string]post.SeriesException,
) (message.Messages, bool) {
	name := o.Name()
	if _, noted := notes[name]; noted || !o.At.After(m.series.CheckedUntil) {
		return nil, false
	}
	p, ok := posts[name]
	if !ok {
		return message.One("missed_not_running", "Dateline was not running when its post should have been created."),
			true
	}
	reason := append(message.One("missed_draft", "Its post was still a draft."), m.series.LastError...)
	switch p.Approval.State {
	case post.ApprovalPending:
		reason = message.One("missed_pending", "Its post was still pending approval.")
	case post.ApprovalRejected:
		reason = message.One("missed_rejected", "Its post was not approved.")
	}
	return reason, p.Status == post.Draft && p.Series.IsUnmodified
}

// needsUpdate reports whether a post must be updated to match its series. A submitted or
// rejected post is not changed.
func (m *materializer) needsUpdate(p post.Post, o recurrence.Occurrence) bool {
	changed := p.Series.TemplateRevision != m.series.TemplateRevision || !p.ScheduledTime.Equal(o.At)
	switch p.Status {
	case post.Draft:
		return changed || p.Approval.State == "" || p.Approval.State == post.ApprovalNone
	case post.Scheduled:
		return changed
	default:
		return false
	}
}

func (m *materializer) guard(id uuid.UUID, version int64) post.Guard {
	return post.Guard{WorkspaceID: m.series.WorkspaceID, PostID: id, IfVersion: version, Actor: post.ActorDateline}
}

func (m *materializer) withdraw(ctx context.Context, p post.Post) error {
	ok, err := m.scheduler.Store.WithdrawOccurrence(ctx, m.series, m.guard(p.ID, p.Version))
	if ok {
		m.changed = append(m.changed, p.ID)
	}
	return err
}

// validate checks the template as the post of one occurrence.
func (m *materializer) validate(ctx context.Context, o recurrence.Occurrence) (post.NewPost, string, error) {
	draft := m.template
	draft.ScheduledTime, draft.TimeZone = o.At.Format(time.RFC3339), m.series.TimeZone
	m.check = m.check.next()
	who := workspace.Principal{WorkspaceID: m.series.WorkspaceID, UserID: m.series.UserID, Role: workspace.Editor}
	if m.series.ByAuthor {
		who.Role = workspace.Author
	}
	n, err := m.check.validate(ctx, who, draft)
	n.Actor = post.ActorDateline
	if err != nil || len(m.check.problems) == 0 {
		return n, "", err
	}
	problem := apperr.InvalidFields(m.check.problems...).Error()
	if len(m.lastError) == 0 {
		at := o.At
		if zone, err := timezone.Load(m.series.TimeZone); err == nil {
			at = at.In(zone)
		}
		m.lastError = message.One("occurrence_blocked", "The post of {occurrence_at} cannot be published.", at)
		for _, p := range m.check.problems {
			m.lastError = append(m.lastError, message.Message{Code: p.Code, Text: p.Message, Params: p.Params})
		}
	}
	return n, problem, nil
}

// create creates an occurrence's post. A post that cannot be published becomes a draft,
// so that the calendar shows it. It is scheduled when the problem is solved.
func (m *materializer) create(ctx context.Context, o recurrence.Occurrence) error {
	n, problem, err := m.validate(ctx, o)
	if err != nil {
		return err
	}
	if problem != "" {
		n.Post.Status, n.Post.ScheduledTime, n.Post.Approval.State = post.Draft, o.At, post.ApprovalNone
		if err := m.useTemplateAccounts(ctx, &n); err != nil {
			return err
		}
	}
	p, ok, err := m.scheduler.Store.CreateOccurrence(ctx, m.series, o.Name(), n, problem)
	if err == nil && ok && p.ID != uuid.Nil {
		m.changed = append(m.changed, p.ID)
	}
	return err
}

// useTemplateAccounts lets a draft target accounts that are currently disconnected.
func (m *materializer) useTemplateAccounts(ctx context.Context, n *post.NewPost) error {
	ids := make([]uuid.UUID, 0, len(m.template.Accounts))
	for _, text := range m.template.Accounts {
		if id, err := uuid.Parse(text); err == nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	known, err := m.check.lookup.accounts(ctx, ids)
	n.AccountIDs = n.AccountIDs[:0]
	for _, id := range ids {
		if a, ok := known[id]; ok && a.Status != account.Disconnected {
			n.AccountIDs = append(n.AccountIDs, id)
		}
	}
	return err
}

// update applies the template to a post that nobody has edited.
func (m *materializer) update(ctx context.Context, p post.Post, o recurrence.Occurrence) error {
	n, problem, err := m.validate(ctx, o)
	if err != nil || problem != "" {
		return err
	}
	w := n.Post
	change := post.Change{
		Content: &w.Content, ScheduledTime: &w.ScheduledTime, TimeZone: &w.TimeZone,
		Language:      &w.Language,
		AttachmentIDs: &w.AttachmentIDs, AccountIDs: &n.AccountIDs, Thread: &w.Thread, Options: &w.Options,
		LateLimit: &w.LateLimit, LinkBase: &w.LinkBase, Overrides: map[uuid.UUID]*post.Override{},
		NeedsApproval: w.Approval.State == post.ApprovalPending,
	}
	for _, id := range n.AccountIDs {
		change.Overrides[id] = n.Overrides[id] // nil removes an override
	}
	change = change.ChangedFrom(p)
	changed, ok, err := m.scheduler.Store.UpdateOccurrence(ctx, m.series, m.guard(p.ID, p.Version), change,
		w.AttachmentURLs, p.Status == post.Draft)
	if ok {
		m.changed = append(m.changed, changed.ID)
	}
	return err
}
