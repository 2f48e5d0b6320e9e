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
	// settledAfter is the age from which a post's numbers hardly grow. Newer posts
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

// BestTime is an hour of the week whose posts did better than others.
type BestTime struct {
	Weekday int       // 1 (Monday) to 7
	Hour    int       // on the wall clock
	Posts   int       // that were published in it: the sample size
	Lift    float64   // clicks or engagement per post divided by the average, after shrinking it towards 1
	At      time.Time // when it is next
}

// BestTimes are suggestions from the clicks on posts' tracked links, or from the engagement
// that the network reports.
type BestTimes struct {
	Posts int        // whose number is known, in the period
	Times []BestTime // the best first; empty: there are too few posts, or no time is better
}

// BestTimes suggests times at which earlier posts on the same accounts did better than the
// average: by clicks or engagement, whichever is known for more posts of the account. Each post
// is compared with the others of its own account, so that the hours of a large account do not
// look better than they are.
func (r *Reporter) BestTimes(ctx context.Context, q BestTimesQuery) (BestTimes, error) {
	if len(q.Accounts) > 50 {
		return BestTimes{}, apperr.InvalidFields(apperr.FieldError{
			Field: "account", Code: "too_many", Message: "Name at most 50 accounts.",
		})
	}
	rows, err := r.Store.PostReportRows(ctx, q.WorkspaceID, q.Now.Add(-BestTimesPeriod), q.Now.Add(-settledAfter))
	if err != nil {
		return BestTimes{}, err
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool {
		return len(q.Accounts) > 0 && !slices.Contains(q.Accounts, r.AccountID)
	})
	all := samplesOf(rows)
	out := BestTimes{Posts: len(all)}
	if len(all) < MinBestTimes {
		return out, nil
	}
	out.Times = rankHours(all, q.Zone)
	for i := range out.Times {
		out.Times[i].At = nextHour(out.Times[i], q.Now.Add(minLead), q.Zone)
	}
	return out, nil
}

// sample is a number of a post, which is compared with those of its account.
type sample struct {
	account uuid.UUID
	at      time.Time
	value   int64
}

// samplesOf returns the clicks of posts, or the engagement on accounts for which it is
// known of more posts.
func samplesOf(rows []Row) (out []sample) {
	known := map[uuid.UUID]map[Metric]int{}
	for i := range rows {
		counts := known[rows[i].AccountID]
		if counts == nil {
			counts = map[Metric]int{}
			known[rows[i].AccountID] = counts
		}
		for _, m := range []Metric{Clicks, Engagement} {
			if rows[i].Value(m) != nil {
				counts[m]++
			}
		}
	}
	for i := range rows {
		metric := Clicks
		if counts := known[rows[i].AccountID]; counts[Engagement] > counts[Clicks] {
			metric = Engagement
		}
		if v := rows[i].Value(metric); v != nil {
			out = append(out, sample{rows[i].AccountID, rows[i].PostedAt, *v})
		}
	}
	return out
}

// hourOfWeek identifies an hour of the week.
type hourOfWeek struct{ weekday, hour int }

// ratios are posts' numbers, each divided by what is usual for its account.
type ratios struct {
	sum float64
	n   int
}

func (r *ratios) add(ratio float64) { r.sum, r.n = r.sum+ratio, r.n+1 }

// shrunk is the mean after adding prior posts of the expected value.
func (r *ratios) shrunk(expected float64) float64 {
	return (r.sum + prior*expected) / float64(r.n+prior)
}

// rankHours returns the hours of the week that are clearly better than the average. An
// hour with few posts is judged by the same hour of other days, too.
func rankHours(samples []sample, zone *time.Location) []BestTime {
	values := map[uuid.UUID][]int64{}
	for _, s := range samples {
		values[s.account] = append(values[s.account], s.value)
	}
	usual := map[uuid.UUID]float64{}
	for id, all := range values {
		usual[id] = usualValue(all)
	}
	all, hours, slots := ratios{}, map[int]*ratios{}, map[hourOfWeek]*ratios{}
	for _, s := range samples {
		expected := usual[s.account]
		if expected == 0 {
			continue // nobody reacts: it says nothing about times
		}
		ratio := min(float64(s.value)/expected, maxRatio)
		at := s.at.In(zone)
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
		return cmp.Or(cmp.Compare(b.Lift, a.Lift), cmp.Compare(b.Posts, a.Posts), cmp.Compare(a.Weekday, b.Weekday),
			cmp.Compare(a.Hour, b.Hour))
	})
	return out[:min(len(out), maxBestTimes)]
}

// usualValue is the median, which a single popular post does not change, or the mean if it
// is 0 for most posts.
func usualValue(values []int64) float64 {
	slices.Sort(values)
	if median := values[len(values)/2]; median > 0 {
		return float64(median)
	}
	sum := int64(0)
	for _, n := range values {
		sum += n
	}
	return float64(sum) / float64(len(values))
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
