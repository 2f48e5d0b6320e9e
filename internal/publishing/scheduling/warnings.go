package scheduling

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
)

// Posts that are due before this hour of their time zone are rarely intended.
const nightEnds = 5 // o'clock

// warnings returns warnings about a post. A warning, or a failure to compute one, never
// prevents storing the post.
func (c *check) warnings(ctx context.Context, p post.Post) []post.Warning {
	out := append(c.accountWarnings(ctx, p), c.contentWarnings(p)...)
	spots := slotsOf(p)
	if len(spots) == 0 {
		return out
	}
	near, err := c.scheduler.Store.NearbyPosts(ctx, p.WorkspaceID, spots)
	if err != nil {
		c.scheduler.Log.WarnContext(ctx, "other posts are not compared", "post_id", p.ID, "error", err)
		return out
	}
	for _, n := range near {
		out = append(out, nearbyWarning(n, p, handleOf(p, spots[n.Slot].AccountID), spots[n.Slot].AccountID))
	}
	return out
}

// willPublish reports whether a post will be published without further action.
func willPublish(p post.Post) bool { return p.Status == post.Scheduled || p.IsPendingApproval() }

// slotsOf lists the accounts and times of a post.
func slotsOf(p post.Post) []post.Slot {
	if !willPublish(p) || p.ScheduledTime.IsZero() {
		return nil
	}
	var spots []post.Slot
	for _, t := range p.Targets {
		if t.Status != post.TargetScheduled {
			continue
		}
		at := post.Slot{PostID: p.ID, AccountID: t.AccountID, At: p.ScheduledTime, Fingerprint: p.Fingerprint(t)}
		if p.Series != nil {
			at.SeriesID = p.Series.SeriesID
		}
		spots = append(spots, at)
	}
	return spots
}

func handleOf(p post.Post, account uuid.UUID) string {
	for _, t := range p.Targets {
		if t.AccountID == account {
			return t.Handle
		}
	}
	return account.String()
}

func nearbyWarning(n post.NearbyPost, p post.Post, handle string, account uuid.UUID) post.Warning {
	at, within := inZone(n.At, p.TimeZone), post.ConflictWindow
	var w post.Warning
	switch {
	case n.SameText && n.Published:
		w = post.NewWarning(post.WarnDuplicate, account,
			"The same text was published on {handle} at {published_at}: post {post}.", handle, at, n.PostID)
	case n.SameText:
		w = post.NewWarning(post.WarnDuplicate, account,
			"The same text is scheduled to {handle} for {planned_at}: post {post}.", handle, at, n.PostID)
	case n.Published:
		w = post.NewWarning(post.WarnConflict, account,
			"Another post was published on {handle} at {published_at}, less than {within_seconds} away: {post}.",
			handle, at, within, n.PostID)
	default:
		w = post.NewWarning(post.WarnConflict, account,
			"Another post on {handle} is scheduled for {planned_at}, less than {within_seconds} away: {post}.", handle,
			at, within, n.PostID)
	}
	w.PostID, w.At = &n.PostID, &n.At
	return w
}

// inZone returns a time in the zone with a name, or unchanged if there is none.
func inZone(at time.Time, zone string) time.Time {
	if z, err := timezone.Load(zone); err == nil {
		return at.In(z)
	}
	return at
}

// contentWarnings returns the warnings that do not depend on other posts.
func (c *check) contentWarnings(p post.Post) (out []post.Warning) {
	if zone, err := timezone.Load(p.TimeZone); err == nil && willPublish(p) && !p.ScheduledTime.IsZero() &&
		p.ScheduledTime.In(zone).Hour() < nightEnds {
		out = append(out, post.NewWarning(post.WarnNight, uuid.Nil,
			"It is scheduled at night: {planned_at} in {time_zone}.", p.ScheduledTime.In(zone), p.TimeZone))
	}
	bare := 0
	for _, id := range p.MediaIDs() {
		if f, ok := c.files[id]; ok && strings.HasPrefix(f.MIMEType, "image/") && f.AltText == "" {
			bare++
		}
	}
	if bare > 0 {
		out = append(out, post.NewWarning(post.WarnNoAltText, uuid.Nil,
			"{images|image has|images have} no alternative text.", bare))
	}
	return out
}

// validRow is a valid row of a bulk request.
type validRow struct {
	number int
	at     int // index in the results
	post   post.Post
}

// addRowWarnings adds the same warnings as for single posts, except the forecast, to
// thousands of rows: it queries the database in batches and compares rows with one
// another.
func (c *check) addRowWarnings(ctx context.Context, rows []validRow, results []RowResult) error {
	var spots []post.Slot
	var of []validRow // of each slot
	for _, row := range rows {
		for _, at := range slotsOf(row.post) {
			spots, of = append(spots, at), append(of, row)
		}
	}
	if len(spots) == 0 {
		return nil
	}
	add := func(row validRow, w post.Warning) { results[row.at].Warnings = append(results[row.at].Warnings, w) }
	near, err := c.scheduler.Store.NearbyPosts(ctx, c.workspace.ID, spots)
	if err != nil {
		return err
	}
	for _, n := range near {
		row, account := of[n.Slot], spots[n.Slot].AccountID
		add(row, nearbyWarning(n, row.post, handleOf(row.post, account), account))
	}
	order := make([]int, len(spots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(slices.Compare(spots[a].AccountID[:], spots[b].AccountID[:]), spots[a].At.Compare(spots[b].At))
	})
	said := map[string]int{} // account and words → the spot before
	for i, this := range order {
		s, row := spots[this], of[this]
		if i > 0 {
			before := order[i-1]
			if b := spots[before]; b.AccountID == s.AccountID && s.At.Sub(b.At) < post.ConflictWindow {
				add(row, rowWarning(post.WarnConflict, of[before], s, row))
			}
		}
		if len(s.Fingerprint) == 0 {
			continue
		}
		key := string(s.AccountID[:]) + string(s.Fingerprint)
		if before, ok := said[key]; ok && s.At.Sub(spots[before].At) <= post.DuplicateWindow {
			add(row, rowWarning(post.WarnDuplicate, of[before], s, row))
		}
		said[key] = this
	}
	return nil
}

// rowWarning warns about another row of the same request.
func rowWarning(code string, other validRow, at post.Slot, row validRow) post.Warning {
	handle, planned := handleOf(row.post, at.AccountID), inZone(other.post.ScheduledTime, row.post.TimeZone)
	w := post.NewWarning(post.WarnDuplicate, at.AccountID,
		"The same text is in row {row}, for {handle} at {planned_at}.", other.number, handle, planned)
	if code == post.WarnConflict {
		w = post.NewWarning(post.WarnConflict, at.AccountID,
			"Less than {within_seconds} before, there is row {row}, for {handle} at {planned_at}.", post.ConflictWindow,
			other.number, handle, planned)
	}
	w.At = &other.post.ScheduledTime
	return w
}
