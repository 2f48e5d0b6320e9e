package scheduling

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
)

// check collects all problems of a request, so that users see them at once.
type check struct {
	scheduler *Scheduler
	workspace workspace.Workspace
	lookup    *lookup
	files     map[uuid.UUID]media.Item // that the request names
	settled   map[uuid.UUID]bool       // accounts that can no longer be changed
	problems  []apperr.FieldError
	targets   []account.Account // that the content was checked for
	notBefore time.Time         // of the next free slot; zero: any
}

func (s *Scheduler) check(w workspace.Workspace) *check {
	return &check{scheduler: s, workspace: w, lookup: newLookup(s, w.ID), files: map[uuid.UUID]media.Item{}}
}

// next starts a new check with the data that the last one has loaded.
func (c *check) next() *check {
	return &check{scheduler: c.scheduler, workspace: c.workspace, lookup: c.lookup, files: map[uuid.UUID]media.Item{}}
}

func (c *check) add(field, code, template string, args ...any) {
	c.problems = append(c.problems, apperr.Field(field, code, template, args...))
}

// parseTime reads the scheduled time and the zone it is meant in.
func (c *check) parseTime(text, zoneName string) (time.Time, string) {
	zoneName = c.zoneOr(zoneName)
	zone, err := c.lookup.zone(zoneName)
	if err != nil {
		c.add("time_zone", "unknown_time_zone", "{reason}.", err)
		return time.Time{}, zoneName
	}
	if text == "" {
		c.checkFuture(time.Time{})
		return time.Time{}, zoneName
	}
	at, err := post.ParseTime(text, zone)
	if err != nil {
		c.add("scheduled_time", "invalid_time", "{reason}.", err)
		return at, zoneName
	}
	c.checkFuture(at.In(zone))
	return at, zoneName
}

func (c *check) zoneOr(name string) string {
	if name == "" {
		return c.workspace.TimeZone
	}
	return name
}

// checkZone checks the name of a zone that no time is read in.
func (c *check) checkZone(name string) string {
	if _, err := timezone.Load(name); err != nil {
		c.add("time_zone", "unknown_time_zone", "{reason}.", err)
	}
	return name
}

func (c *check) checkFuture(at time.Time) {
	switch {
	case at.IsZero():
		c.add("scheduled_time", "required", "A scheduled time is required.")
	case !at.After(c.scheduler.now()):
		c.add("scheduled_time", "in_the_past", "{planned_at} is in the past. Name a later time, or use publish-now.",
			at)
	case at.After(c.scheduler.now().Add(post.Horizon)):
		c.add("scheduled_time", "too_far", "Posts can be scheduled at most five years ahead.")
	}
}

// maxLateMinutes limits the number of minutes.
const maxLateMinutes = 366 * 24 * 60

func (c *check) lateLimit(minutes int) time.Duration {
	if minutes < 0 || minutes > maxLateMinutes {
		c.add("drop_if_late_minutes", "invalid", "Name a number of minutes from 1 to {limit}, or 0 for no limit.",
			maxLateMinutes)
	}
	return time.Duration(minutes) * time.Minute
}

// linkBase is the prefix of the post's short links; "": they are not tracked. Existing
// links keep theirs: some may be published.
func (c *check) linkBase(track bool, had string) string {
	switch {
	case !track:
		return ""
	case had != "":
		return had
	case c.scheduler.LinkBase == "":
		c.add("track_links", "unsupported", "Short links are disabled: set DATELINE_PUBLIC_URL.")
	}
	return c.scheduler.LinkBase
}

// fieldID is an id with its path in the request.
type fieldID struct {
	id    uuid.UUID
	field string
}

// parseIDs parses a list of ids and reports invalid and duplicate ones.
func (c *check) parseIDs(field string, texts []string) []fieldID {
	seen := make(map[uuid.UUID]bool, len(texts))
	out := make([]fieldID, 0, len(texts))
	for i, text := range texts {
		at := fmt.Sprintf("%s[%d]", field, i)
		id, err := uuid.Parse(text)
		switch {
		case err != nil:
			c.add(at, "not_a_uuid", "{value} is not a UUID.", text)
		case seen[id]:
			c.add(at, "duplicate", "{value} is listed twice.", id)
		default:
			seen[id] = true
			out = append(out, fieldID{id, at})
		}
	}
	return out
}

func idsOf(list []fieldID) []uuid.UUID {
	ids := make([]uuid.UUID, len(list))
	for i, l := range list {
		ids[i] = l.id
	}
	return ids
}

// attachments finds the uploaded files that a list names. It never returns a nil
// list: in an override, an empty list means no media and nil means the post's.
func (c *check) attachments(ctx context.Context, field string, texts []string) ([]uuid.UUID, error) {
	ids := c.parseIDs(field, texts)
	if len(ids) == 0 {
		return []uuid.UUID{}, nil
	}
	known, err := c.lookup.files(ctx, idsOf(ids))
	if err != nil {
		return nil, err
	}
	found := make([]uuid.UUID, 0, len(ids))
	for _, l := range ids {
		item, ok := known[l.id]
		if !ok || item.Deleted {
			c.add(l.field, "unknown_file", "No uploaded file {file}. Upload it to /api/v1/media first.", l.id)
			continue
		}
		c.files[l.id] = item
		found = append(found, l.id)
	}
	return found, nil
}

// loadFiles reads the files of a stored post.
func (c *check) loadFiles(ctx context.Context, p post.Post) error {
	known, err := c.scheduler.Store.MediaByID(ctx, p.WorkspaceID, p.MediaIDs())
	for id, item := range known {
		c.files[id] = item
	}
	return err
}

func (c *check) urls(ids []uuid.UUID) []string {
	urls := make([]string, len(ids))
	for i, id := range ids {
		urls[i] = c.scheduler.ObjectURL(c.files[id].ObjectKey)
	}
	return urls
}

// parent finds the post that this one replies to.
func (c *check) parent(ctx context.Context, text string, at time.Time) (*post.Post, error) {
	if text == "" {
		return nil, nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		c.add("thread_parent_id", "not_a_uuid", "{value} is not a UUID.", text)
		return nil, nil //nolint:nilerr // the problem is noted
	}
	parents, err := c.lookup.posts(ctx, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	parent, ok := parents[id]
	if !ok {
		c.add("thread_parent_id", "unknown_post", "There is no post {post}.", id)
		return nil, nil
	}
	c.checkParent(parent, at)
	return &parent, nil
}

// checkParent reports whether a post can be replied to at the given time.
func (c *check) checkParent(parent post.Post, at time.Time) {
	switch parent.Status {
	case post.Failed, post.Canceled:
		c.add("thread_parent_id", "not_published", "The post {post} is {status} and cannot be replied to.", parent.ID,
			parent.Status)
	default:
		c.checkNotBeforeParent(parent, at)
	}
}

// checkNotBeforeParent checks a reply's time against the parent's. An invalid time is
// zero; it was already reported.
func (c *check) checkNotBeforeParent(parent post.Post, at time.Time) {
	if !at.IsZero() && !parent.Status.IsFinal() && at.Before(parent.ScheduledTime) {
		c.add("scheduled_time", "before_parent",
			"The parent post is scheduled for {planned_at}; use the same or a later time.",
			inZone(parent.ScheduledTime, parent.TimeZone))
	}
}

// accounts finds the requested accounts, or else the default ones. A draft may have
// none.
func (c *check) accounts(
	ctx context.Context, texts []string, parent *post.Post, unfinished bool,
) ([]account.Account, error) {
	ids := c.parseIDs("accounts", texts)
	if len(texts) == 0 && parent != nil {
		for _, t := range parent.Targets {
			ids = append(ids, fieldID{t.AccountID, "accounts"})
		}
	}
	if len(texts) == 0 && parent == nil {
		found, err := c.lookup.defaults(ctx)
		if err == nil && len(found) == 0 && !unfinished {
			c.add("accounts", "required", "No default account is connected. Connect one, or name accounts.")
		}
		return found, err
	}
	known, err := c.lookup.accounts(ctx, idsOf(ids))
	if err != nil {
		return nil, err
	}
	out := make([]account.Account, 0, len(ids))
	for _, l := range ids {
		a, ok := known[l.id]
		switch {
		case !ok:
			c.add(l.field, "unknown_account", "There is no account {account}.", l.id)
		case !c.checkConnected(l.field, a):
		case parent != nil && !onAccount(*parent, l.id):
			c.add(l.field, "not_in_thread", "The parent post does not go to {handle}.", a.Handle)
		default:
			out = append(out, a)
		}
	}
	return out, nil
}

func (c *check) checkConnected(field string, a account.Account) bool {
	if a.Status == account.Connected {
		return true
	}
	c.add(field, "not_connected", "Reconnect the account {handle} first.", a.Handle)
	return false
}

func onAccount(p post.Post, id uuid.UUID) bool {
	for _, t := range p.Targets {
		if t.AccountID == id {
			return true
		}
	}
	return false
}

// languagePattern is ISO 639-1, and also 639-3 codes, like Mastodon.
var languagePattern = regexp.MustCompile(`^[a-z]{2,3}$`)

func (c *check) checkLanguage(text string) {
	if text != "" && !languagePattern.MatchString(text) {
		c.add("language", "not_a_language", "{value} is not a language code; use ISO 639-1, such as vi or en.", text)
	}
}
