package scheduling

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/recurrence"
)

// How far ahead occurrences become posts: far enough to plan a month in the
// calendar. The next one always does.
const (
	aheadFor  = 35 * 24 * time.Hour
	aheadMost = 100
)

// Materialise brings the posts of a series and its rule together, and lists the
// posts that changed. Doing it twice, also at once, makes nothing twice.
func (d *Desk) Materialise(ctx context.Context, id uuid.UUID) ([]uuid.UUID, error) {
	s, err := d.Store.Series(ctx, id)
	if err != nil || s.Status == post.SeriesEnded {
		return nil, err
	}
	workspace, err := d.Store.Workspace(ctx, s.WorkspaceID)
	if err != nil {
		return nil, err
	}
	m := &maker{desk: d, series: s, now: d.now(), check: d.check(workspace)}
	if err := json.Unmarshal(s.Template, &m.template); err != nil {
		return nil, err
	}
	err = m.run(ctx)
	for _, id := range m.changed {
		d.Live.Changed(ctx, id)
	}
	return m.changed, err
}

// materialised does it right after a change, and gives the series as it is then.
func (d *Desk) materialised(ctx context.Context, s post.Series) (post.Series, []uuid.UUID, error) {
	changed, err := d.Materialise(ctx, s.ID)
	if err != nil {
		// The change stands; the schedule goes on with it.
		d.Log.WarnContext(ctx, "a series has not made all its posts yet", "series_id", s.ID, "error", err)
	}
	s, err = d.Store.Series(ctx, s.ID)
	return s, changed, err
}

// maker makes the posts of one series.
type maker struct {
	desk     *Desk
	series   post.Series
	template Draft
	now      time.Time
	check    *check
	changed  []uuid.UUID
	problem  string
}

func (m *maker) run(ctx context.Context) error {
	posts, notes, err := m.desk.made(ctx, m.series, m.series.LookedUntil)
	if err != nil {
		return err
	}
	wanted, missed, over, err := m.plan(posts, notes)
	if err != nil {
		return err
	}
	for name, p := range posts {
		if _, ok := wanted[name]; !ok && p.Series.Untouched && p.ScheduledTime.After(m.now) && (p.Status == post.Scheduled || p.Status == post.Draft) {
			if err := m.withdraw(ctx, p); err != nil {
				return err
			}
		}
	}
	var failed error
	for name, o := range wanted {
		if o.beyond {
			continue
		}
		p, ok := posts[name]
		switch {
		case !ok:
			err = m.create(ctx, o.Occurrence)
		case p.Series.Untouched && m.outdated(p, o.Occurrence):
			err = m.revise(ctx, p, o.Occurrence)
		}
		if err != nil { // one occurrence in trouble does not stop the others
			failed = errors.Join(failed, err)
			err = nil
		}
	}
	if failed != nil {
		return failed
	}
	ok, err := m.desk.Store.SeriesLooked(ctx, m.series, m.now, missed, m.problem)
	if err == nil && ok && over {
		_, err = m.desk.Store.SetSeriesStatus(ctx, m.guard(m.series.ID, m.series.Version), post.SeriesEnded)
	}
	return err
}

// want is an occurrence that is to be a post, now or, beyond the window, later.
type want struct {
	recurrence.Occurrence
	beyond bool
}

// plan says which occurrences are to be posts and which were missed. over says
// that none is ahead any more.
func (m *maker) plan(posts map[string]post.Post, notes map[string]post.SeriesNote) (wanted map[string]want, missed []post.SeriesNote, over bool, err error) {
	rule, starts, zone, err := expandable(m.series)
	if err != nil || m.series.Status == post.SeriesPaused {
		return nil, nil, false, err
	}
	wanted, over = map[string]want{}, true
	last := m.now.Add(aheadFor)
	for _, p := range posts {
		if p.ScheduledTime.After(last) {
			last = p.ScheduledTime
		}
	}
	for o := range rule.Occurrences(starts, zone) {
		name := o.Name()
		if !o.At.After(m.now) {
			if reason, ok := m.missed(o, posts, notes); ok {
				missed = append(missed, post.SeriesNote{Occurrence: name, Reason: reason})
			}
			continue
		}
		over = false
		if len(wanted) > 0 && o.At.After(last) {
			break
		}
		if _, noted := notes[name]; !noted {
			wanted[name] = want{o, len(wanted) > 0 && (o.At.After(m.now.Add(aheadFor)) || len(wanted) >= aheadMost)}
		}
	}
	return wanted, missed, over, nil
}

// missed says whether an occurrence passed without becoming a post in time, and
// why. Publishing it late would surprise everybody.
func (m *maker) missed(o recurrence.Occurrence, posts map[string]post.Post, notes map[string]post.SeriesNote) (string, bool) {
	name := o.Name()
	if _, noted := notes[name]; noted || !o.At.After(m.series.LookedUntil) {
		return "", false
	}
	p, ok := posts[name]
	if !ok {
		return "Dateline was not running when its post should have been made.", true
	}
	reason := "Its post was still a draft: " + m.series.LastProblem
	switch p.Approval.State {
	case post.Pending:
		reason = "Its post was still waiting for approval."
	case post.Rejected:
		reason = "Its post was not approved."
	}
	return reason, p.Status == post.Draft && p.Series.Untouched
}

// outdated says whether a post is to be brought up to its series. One that
// somebody is to decide on, or has rejected, is left as it is meanwhile.
func (m *maker) outdated(p post.Post, o recurrence.Occurrence) bool {
	changed := p.Series.TemplateRevision != m.series.TemplateRevision || !p.ScheduledTime.Equal(o.At)
	switch p.Status {
	case post.Draft:
		return changed || p.Approval.State == "" || p.Approval.State == post.NotAsked
	case post.Scheduled:
		return changed
	default:
		return false
	}
}

func (m *maker) guard(id uuid.UUID, version int64) post.Guard {
	return post.Guard{WorkspaceID: m.series.WorkspaceID, PostID: id, IfVersion: version, Actor: post.ActorDateline}
}

func (m *maker) withdraw(ctx context.Context, p post.Post) error {
	ok, err := m.desk.Store.WithdrawOccurrence(ctx, m.series, m.guard(p.ID, p.Version))
	if ok {
		m.changed = append(m.changed, p.ID)
	}
	return err
}

// examine checks the template as the post of one occurrence.
func (m *maker) examine(ctx context.Context, o recurrence.Occurrence) (post.NewPost, string, error) {
	draft := m.template
	draft.ScheduledTime, draft.TimeZone = o.At.Format(time.RFC3339), m.series.TimeZone
	m.check = m.check.next()
	who := workspace.Principal{WorkspaceID: m.series.WorkspaceID, UserID: m.series.UserID, Role: workspace.Editor}
	if m.series.ByAuthor {
		who.Role = workspace.Author
	}
	n, err := m.check.examine(ctx, who, draft)
	n.Actor = post.ActorDateline
	if err != nil || len(m.check.problems) == 0 {
		return n, "", err
	}
	problem := apperr.InvalidFields(m.check.problems...).Error()
	if m.problem == "" {
		m.problem = o.Name() + ": " + problem
	}
	return n, problem, nil
}

// create makes an occurrence's post. One that cannot be published as it is
// becomes a draft, so that it stands in the calendar; it is scheduled as soon
// as the trouble is over.
func (m *maker) create(ctx context.Context, o recurrence.Occurrence) error {
	n, problem, err := m.examine(ctx, o)
	if err != nil {
		return err
	}
	if problem != "" {
		n.Post.Status, n.Post.ScheduledTime, n.Post.Approval.State = post.Draft, o.At, post.NotAsked
		if err := m.keepAccounts(ctx, &n); err != nil {
			return err
		}
	}
	p, ok, err := m.desk.Store.CreateOccurrence(ctx, m.series, o.Name(), n, problem)
	if err == nil && ok && p.ID != uuid.Nil {
		m.changed = append(m.changed, p.ID)
	}
	return err
}

// keepAccounts lets a draft go to accounts that are not connected right now.
func (m *maker) keepAccounts(ctx context.Context, n *post.NewPost) error {
	ids := make([]uuid.UUID, 0, len(m.template.Accounts))
	for _, text := range m.template.Accounts {
		if id, err := uuid.Parse(text); err == nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	known, err := m.check.known.accounts(ctx, ids)
	n.AccountIDs = n.AccountIDs[:0]
	for _, id := range ids {
		if a, ok := known[id]; ok && a.Status != account.Disconnected {
			n.AccountIDs = append(n.AccountIDs, id)
		}
	}
	return err
}

// revise brings a post that nobody else changed up to the template.
func (m *maker) revise(ctx context.Context, p post.Post, o recurrence.Occurrence) error {
	n, problem, err := m.examine(ctx, o)
	if err != nil || problem != "" {
		return err
	}
	w := n.Post
	change := post.Change{Content: &w.Content, ScheduledTime: &w.ScheduledTime, TimeZone: &w.TimeZone, Language: &w.Language,
		AttachmentIDs: &w.AttachmentIDs, AccountIDs: &n.AccountIDs, Thread: &w.Thread, LateLimit: &w.LateLimit, LinkBase: &w.LinkBase, Overrides: map[uuid.UUID]*post.Override{},
		NeedsApproval: w.Approval.State == post.Pending}
	for _, id := range n.AccountIDs {
		change.Overrides[id] = n.Overrides[id] // nil takes one back
	}
	change = change.Since(p)
	changed, ok, err := m.desk.Store.ReviseOccurrence(ctx, m.series, m.guard(p.ID, p.Version), change, w.AttachmentURLs, p.Status == post.Draft)
	if ok {
		m.changed = append(m.changed, changed.ID)
	}
	return err
}
