package postreport

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
)

// Limits of BestTimes.
const (
	// BestTimesPeriod is the period whose posts suggest times.
	BestTimesPeriod = 90 * 24 * time.Hour
	// MinBestTimes is the number of posts below which no times are suggested.
	MinBestTimes = 20
	// settledAfter is the age from which a post hardly gets more clicks. Newer posts
	// would make their times look worse.
	settledAfter = 48 * time.Hour
	maxBestTimes = 5
	// maxRatio limits what one post can say about its time.
	maxRatio = 3
	// minLift is the lift from which a time is suggested.
	minLift = 1.15
	// prior is the number of average posts that every estimate begins with.
	prior = 5
	// minLead is how far away a suggested time is at least.
	minLead = 10 * time.Minute
)

// BestTimesQuery selects the posts that suggest times.
type BestTimesQuery struct {
	WorkspaceID uuid.UUID
	Zone        *time.Location
	Accounts    []uuid.UUID // empty: all
	Now         time.Time
}

// BestTime is an hour of the week whose posts got more clicks than others.
type BestTime struct {
	Weekday int       // 1 (Monday) to 7
	Hour    int       // on the wall clock
	Posts   int       // that were published in it: the sample size
	Lift    float64   // clicks per post divided by the average, after shrinking it towards 1
	At      time.Time // when it is next
}

// BestTimes are suggestions from clicks on the posts' tracked links.
type BestTimes struct {
	Posts int        // with tracked links, in the period
	Times []BestTime // the best first; empty: there are too few posts, or no time is better
}

// BestTimes suggests times at which earlier posts on the same accounts got more clicks
// than the average. Each post is compared with the others of its own account, so that
// the hours of a large account do not look better than they are.
func (r *Reporter) BestTimes(ctx context.Context, q BestTimesQuery) (BestTimes, error) {
	if len(q.Accounts) > 50 {
		return BestTimes{}, apperr.InvalidFields(apperr.FieldError{Field: "account", Code: "too_many", Message: "Name at most 50 accounts."})
	}
	rows, err := r.Store.PostReportRows(ctx, q.WorkspaceID, q.Now.Add(-BestTimesPeriod), q.Now.Add(-settledAfter))
	if err != nil {
		return BestTimes{}, err
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool {
		return r.Clicks == nil || len(q.Accounts) > 0 && !slices.Contains(q.Accounts, r.AccountID)
	})
	out := BestTimes{Posts: len(rows)}
	if len(rows) < MinBestTimes {
		return out, nil
	}
	out.Times = rankHours(rows, q.Zone)
	for i := range out.Times {
		out.Times[i].At = nextHour(out.Times[i], q.Now.Add(minLead), q.Zone)
	}
	return out, nil
}

// hourOfWeek identifies an hour of the week.
type hourOfWeek struct{ weekday, hour int }

// ratios are posts' clicks, each divided by what is usual for its account.
type ratios struct {
	sum float64
	n   int
}

func (r *ratios) add(ratio float64) { r.sum, r.n = r.sum+ratio, r.n+1 }

// shrunk is the mean after adding prior posts of the expected value.
func (r *ratios) shrunk(expected float64) float64 {
	return (r.sum + prior*expected) / float64(r.n+prior)
}

// rankHours returns the hours of the week with clearly more clicks than the average. An
// hour with few posts is judged by the same hour of other days, too.
func rankHours(rows []Row, zone *time.Location) []BestTime {
	clicks := map[uuid.UUID][]int64{}
	for i := range rows {
		clicks[rows[i].AccountID] = append(clicks[rows[i].AccountID], *rows[i].Clicks)
	}
	usual := map[uuid.UUID]float64{}
	for id, all := range clicks {
		usual[id] = usualClicks(all)
	}
	all, hours, slots := ratios{}, map[int]*ratios{}, map[hourOfWeek]*ratios{}
	for i := range rows {
		expected := usual[rows[i].AccountID]
		if expected == 0 {
			continue // nobody clicks: it says nothing about times
		}
		ratio := min(float64(*rows[i].Clicks)/expected, maxRatio)
		at := rows[i].PostedAt.In(zone)
		slot := hourOfWeek{(int(at.Weekday())+6)%7 + 1, at.Hour()}
		if hours[slot.hour] == nil {
			hours[slot.hour] = &ratios{}
		}
		if slots[slot] == nil {
			slots[slot] = &ratios{}
		}
		all.add(ratio)
		hours[slot.hour].add(ratio)
		slots[slot].add(ratio)
	}
	if all.n == 0 {
		return nil
	}
	mean := all.sum / float64(all.n)
	var out []BestTime
	for slot, found := range slots {
		lift := found.shrunk(hours[slot.hour].shrunk(mean)) / mean
		if found.n >= MinSample && lift >= minLift {
			out = append(out, BestTime{Weekday: slot.weekday, Hour: slot.hour, Posts: found.n, Lift: lift})
		}
	}
	slices.SortFunc(out, func(a, b BestTime) int {
		return cmp.Or(cmp.Compare(b.Lift, a.Lift), cmp.Compare(b.Posts, a.Posts), cmp.Compare(a.Weekday, b.Weekday), cmp.Compare(a.Hour, b.Hour))
	})
	return out[:min(len(out), maxBestTimes)]
}

// usualClicks is the median, which a single popular post does not change, or the mean
// if most posts have no clicks.
func usualClicks(clicks []int64) float64 {
	slices.Sort(clicks)
	if median := clicks[len(clicks)/2]; median > 0 {
		return float64(median)
	}
	sum := int64(0)
	for _, n := range clicks {
		sum += n
	}
	return float64(sum) / float64(len(clicks))
}

// nextHour is the first time after a time at which the hour begins. Where clocks skip
// it, it is the hour after.
func nextHour(b BestTime, after time.Time, zone *time.Location) time.Time {
	local := after.In(zone)
	for day := range 8 {
		at := time.Date(local.Year(), local.Month(), local.Day()+day, b.Hour, 0, 0, 0, zone)
		if (int(at.Weekday())+6)%7+1 == b.Weekday && at.After(after) {
			return at.UTC()
		}
	}
	return time.Time{} // not reached: a week has every hour
}
