package activities_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/testsuite"

	"dateline/activities"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/newsroomtest"
)

// signalRecorder records which posts were signaled.
type signalRecorder struct {
	ids []uuid.UUID
	err error
}

func (n *signalRecorder) SignalChanged(_ context.Context, id uuid.UUID) error {
	n.ids = append(n.ids, id)
	return n.err
}

func materialize(t *testing.T, n *newsroomtest.Newsroom, w *signalRecorder) activities.MaterializeResult {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(discard{})
	env := suite.NewTestActivityEnvironment()
	s := &activities.Series{Store: n.Store.Publishing.Series, Scheduler: n.Scheduler, Signaler: w, Log: slog.New(slog.DiscardHandler)}
	env.RegisterActivity(s)
	value, err := env.ExecuteActivity(s.MaterializeSeries)
	n.Must(err)
	var result activities.MaterializeResult
	n.Must(value.Get(&result))
	return result
}

func TestMaterializeSeries(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	create := func() post.Series {
		t.Helper()
		s, _, _, err := n.Scheduler.CreateSeries(t.Context(), n.Owner,
			scheduling.SeriesDraft{
				Rule: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU", TimeZone: "Asia/Ho_Chi_Minh",
				Starts:   time.Now().AddDate(0, 0, -7).Format("2006-01-02T15:04"),
				Template: scheduling.Draft{Content: "Điểm tin tối"},
			}, idempotency.Key{})
		n.Must(err)
		return s
	}
	one, broken, other := create(), create(), create()
	if r := materialize(t, n, &signalRecorder{}); r != (activities.MaterializeResult{Series: 3}) {
		t.Errorf("right after creating: %+v", r)
	}
	n.Exec("update scheduled_posts set withdrawn = true, status = 'canceled'")
	n.Exec("update series set rule = $2 where id = $1", broken.ID, "FREQ=SOMETIMES")
	w := &signalRecorder{}
	if r := materialize(t, n, w); r.Series != 3 || r.Failed != 1 || r.Changed != len(w.ids) || r.Changed < 70 {
		t.Errorf("one series is broken: %+v, signaled %d", r, len(w.ids))
	}
	for _, s := range []post.Series{one, other} {
		if made := n.Count("select count(*) from scheduled_posts where series_id = $1 and status = 'scheduled'",
			s.ID); made < 35 {
			t.Errorf("%d posts", made)
		}
	}
	if r := materialize(t, n, w); r.Changed != 0 {
		t.Errorf("a second run changed %d", r.Changed)
	}

	// Without Temporal the posts of a series are still created.
	n.Exec("update scheduled_posts set withdrawn = true, status = 'canceled'")
	w = &signalRecorder{err: errors.New("Temporal is down")}
	if r := materialize(t, n, w); r.Changed < 70 || len(w.ids) != 1 {
		t.Errorf("without Temporal: %+v, tried %d times", r, len(w.ids))
	}
}
