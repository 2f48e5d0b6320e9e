package postreport_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/postreport"
	"dateline/platforms/network"
)

func clicked(account uuid.UUID, clicks int64, at time.Time) postreport.Row {
	return postreport.Row{PostID: uuid.New(), AccountID: account, PostedAt: at, Clicks: &clicks}
}

func bestTimes(t *testing.T, r rows, q postreport.BestTimesQuery) postreport.BestTimes {
	t.Helper()
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	if q.Now.IsZero() {
		q.Now = monday(12)
	}
	got, err := (&postreport.Reporter{Store: r}).BestTimes(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// weeks returns posts of eight weeks, each Monday at 8 and at 18 o'clock.
func weeks(account uuid.UUID, morning, evening int64) (out rows) {
	for week := 1; week <= 8; week++ {
		day := -7 * week
		out = append(out, clicked(account, morning, monday(8).AddDate(0, 0, day)),
			clicked(account, evening, monday(18).AddDate(0, 0, day)),
			clicked(account, (morning+evening)/2, monday(12).AddDate(0, 0, day-3)))
	}
	return out
}

func TestBestTimes_NamesHoursWithMoreClicksAndTheirSample(t *testing.T) {
	desk := uuid.New()
	got := bestTimes(t, weeks(desk, 10, 50), postreport.BestTimesQuery{})
	if got.Posts != 24 || len(got.Times) != 1 {
		t.Fatalf("got %+v, want one time from 24 posts", got)
	}
	best := got.Times[0]
	if best.Weekday != 1 || best.Hour != 18 || best.Posts != 8 || best.Lift < 1.2 || best.Lift > 50.0/30 {
		t.Errorf("got %+v, want Monday 18:00 from 8 posts, a bit below a lift of 1.67", best)
	}
	if !best.At.Equal(monday(18)) {
		t.Errorf("next: got %s, want %s", best.At, monday(18))
	}
	later := bestTimes(t, weeks(desk, 10, 50), postreport.BestTimesQuery{Now: monday(17).Add(55 * time.Minute)})
	if len(later.Times) != 1 || !later.Times[0].At.Equal(monday(18).AddDate(0, 0, 7)) {
		t.Errorf("five minutes before: got %+v, want the next week", later.Times)
	}
}

// Few posts, equal clicks, or one post that everybody clicked suggest nothing.
func TestBestTimes_SuggestsNothingFromNoise(t *testing.T) {
	desk := uuid.New()
	viral := weeks(desk, 10, 10)
	viral[4] = clicked(desk, 100_000, monday(18).AddDate(0, 0, -14))
	for name, c := range map[string]struct {
		posts rows
		want  int
	}{
		"no posts":        {nil, 0},
		"few posts":       {weeks(desk, 10, 50)[:19], 19},
		"no clicks":       {weeks(desk, 0, 0), 24},
		"the same clicks": {weeks(desk, 10, 10), 24},
		"one of a kind":   {append(weeks(desk, 10, 10), clicked(desk, 90, monday(21).AddDate(0, 0, -7))), 25},
		"one viral post":  {viral, 24},
	} {
		got := bestTimes(t, c.posts, postreport.BestTimesQuery{})
		if len(got.Times) != 0 {
			t.Errorf("%s: got %+v, want no times", name, got.Times)
		}
		if got.Posts != c.want {
			t.Errorf("%s: got %d posts, want %d", name, got.Posts, c.want)
		}
	}
}

// A large account posts in the morning and a small one in the evening: neither hour is
// better.
func TestBestTimes_ComparesPostsWithTheirOwnAccount(t *testing.T) {
	large, small := uuid.New(), uuid.New()
	var posts rows
	for week := 1; week <= 12; week++ {
		posts = append(posts, clicked(large, 1000, monday(8).AddDate(0, 0, -7*week)),
			clicked(small, 5, monday(18).AddDate(0, 0, -7*week)))
	}
	if got := bestTimes(t, posts, postreport.BestTimesQuery{}); len(got.Times) != 0 {
		t.Errorf("got %+v, want no times", got.Times)
	}
	mixed := append(weeks(small, 5, 50), posts...)
	got := bestTimes(t, mixed, postreport.BestTimesQuery{Accounts: []uuid.UUID{large}})
	if got.Posts != 12 || len(got.Times) != 0 {
		t.Errorf("only the large account: got %+v, want 12 posts and no times", got)
	}
}

// An account without tracked links is judged by the engagement that its network reports,
// and never by a mixture.
func TestBestTimes_UsesEngagementWhereLinksAreNotTracked(t *testing.T) {
	desk := uuid.New()
	engaged := weeks(desk, 10, 50)
	for i := range engaged {
		engaged[i].Metrics, engaged[i].Clicks = map[network.Metric]int64{
			network.MetricLikes:   *engaged[i].Clicks - 5,
			network.MetricReplies: 5,
		}, nil
	}
	if got := bestTimes(t, engaged, postreport.BestTimesQuery{}); got.Posts != 24 || len(got.Times) != 1 ||
		got.Times[0].Weekday != 1 || got.Times[0].Hour != 18 {
		t.Errorf("got %+v, want Monday 18:00 from 24 posts", got)
	}
	million := int64(1_000_000)
	engaged[0].Clicks = &million
	if got := bestTimes(t, engaged, postreport.BestTimesQuery{}); got.Posts != 24 || len(got.Times) != 1 ||
		got.Times[0].Hour != 18 {
		t.Errorf("with the clicks of one post: got %+v, want its engagement to count", got)
	}
	tracked := weeks(desk, 10, 50)
	for i := range tracked {
		tracked[i].Metrics = map[network.Metric]int64{network.MetricLikes: 7}
	}
	if got := bestTimes(t, tracked, postreport.BestTimesQuery{}); len(got.Times) != 1 || got.Times[0].Hour != 18 {
		t.Errorf("with tracked links: got %+v, want clicks to count", got)
	}
}

// Hours are those of the wall clock, also when clocks change.
func TestBestTimes_UsesTheWallClock(t *testing.T) {
	zone, err := timezone.Load("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	desk := uuid.New()
	at := func(week, hour int) time.Time { return time.Date(2026, 11, 9-7*week, hour, 30, 0, 0, zone) }
	var posts rows
	for week := range 8 { // clocks change on 1 November
		posts = append(posts, clicked(desk, 40, at(week, 18)), clicked(desk, 10, at(week, 9)),
			clicked(desk, 10, at(week, 12)))
	}
	got := bestTimes(t, posts, postreport.BestTimesQuery{Zone: zone, Now: time.Date(2026, 11, 13, 12, 0, 0, 0, zone)})
	want := time.Date(2026, 11, 16, 18, 0, 0, 0, zone)
	if len(got.Times) != 1 || got.Times[0].Hour != 18 || got.Times[0].Posts != 8 || !got.Times[0].At.Equal(want) {
		t.Errorf("got %+v, want Monday 18:00 from 8 posts, next at %s", got.Times, want)
	}
}
