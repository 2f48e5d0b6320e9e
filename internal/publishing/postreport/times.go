package postreport

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// BestTime is an hour of the week at which posts did better than others.
type BestTime struct {
	Weekday int     // 1 (Monday) to 7
	Hour    int     // begins at the full hour
	Posts   int     // published in this hour of the week
	Lift    float64 // expected result of a post, relative to the mean of its account
}

// BestTimes are suggestions for the slots of a queue.
type BestTimes struct {
	Query

	Posts int        // with the metric
	Times []BestTime // the best first; none if there are too few posts
}

const (
	// MinTimesSample is the number of posts below which no times are suggested.
	MinTimesSample = 30
	// priorPosts is how many posts an assumption is worth: an hour of the week with few
	// posts is judged by those of the same hour on other days and of the same weekday.
	priorPosts = 5
	// minLift is the lift of a suggestion.
	minLift = 1.05
	// minDistance separates suggestions on one day, in hours.
	minDistance = 2
)

// BestTimes suggests hours of the week from the posts of some accounts; none means all.
// Each post is compared with the mean of its account, because accounts differ more than
// hours do.
func (r *Reporter) BestTimes(ctx context.Context, q Query, accounts []uuid.UUID) (BestTimes, error) {
	if err := q.check(); err != nil {
		return BestTimes{}, err
	}
	rows, err := r.Store.PostReportRows(ctx, q.WorkspaceID, q.From, q.To)
	if err != nil {
		return BestTimes{}, err
	}
	rows = slices.DeleteFunc(rows, func(row Row) bool {
		return row.Value(q.Metric) == nil || len(accounts) > 0 && !slices.Contains(accounts, row.AccountID)
	})
	out := BestTimes{Query: q, Posts: len(rows)}
	if len(rows) >= MinTimesSample {
		out.Times = bestTimes(rows, q.Metric, q.Zone, q.Limit)
	}
	return out, nil
}

// sample is the sum and number of relative results.
type sample struct {
	sum float64
	n   int
}

func (s sample) with(value float64) sample { return sample{s.sum + value, s.n + 1} }

// shrunk is the mean, drawn towards an expectation if there are few values.
func (s sample) shrunk(expected float64) float64 {
	return (s.sum + priorPosts*expected) / (float64(s.n) + priorPosts)
}

func bestTimes(rows []Row, m Metric, zone *time.Location, limit int) []BestTime {
	byAccount := map[uuid.UUID]sample{}
	for i := range rows {
		byAccount[rows[i].AccountID] = byAccount[rows[i].AccountID].with(float64(*rows[i].Value(m)))
	}
	var hours [24]sample
	var weekdays [7]sample
	var cells [7][24]sample
	for i := range rows {
		of := byAccount[rows[i].AccountID]
		if of.sum == 0 {
			continue
		}
		relative := float64(*rows[i].Value(m)) * float64(of.n) / of.sum
		at := rows[i].PostedAt.In(zone)
		hour, weekday := at.Hour(), (int(at.Weekday())+6)%7
		hours[hour], weekdays[weekday] = hours[hour].with(relative), weekdays[weekday].with(relative)
		cells[weekday][hour] = cells[weekday][hour].with(relative)
	}
	var all []BestTime
	for weekday := range cells {
		for hour, cell := range cells[weekday] {
			lift := cell.shrunk(hours[hour].shrunk(1) * weekdays[weekday].shrunk(1))
			if lift >= minLift && hours[hour].n > 0 {
				all = append(all, BestTime{Weekday: weekday + 1, Hour: hour, Posts: cell.n, Lift: lift})
			}
		}
	}
	slices.SortFunc(all, func(a, b BestTime) int {
		return cmp.Or(cmp.Compare(b.Lift, a.Lift), cmp.Compare(a.Weekday, b.Weekday), cmp.Compare(a.Hour, b.Hour))
	})
	var out []BestTime
	for _, one := range all {
		isNear := slices.ContainsFunc(out, func(o BestTime) bool {
			return o.Weekday == one.Weekday && max(o.Hour-one.Hour, one.Hour-o.Hour) < minDistance
		})
		if !isNear && len(out) < limit {
			out = append(out, one)
		}
	}
	return out
}
