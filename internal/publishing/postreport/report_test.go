package postreport_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/postreport"
	"dateline/platforms/network"
)

type rows []postreport.Row

func (r rows) PostReportRows(context.Context, uuid.UUID, time.Time, time.Time) ([]postreport.Row, error) {
	return r, nil
}

func (rows) ReportLabels(context.Context, uuid.UUID) (map[uuid.UUID]string, error) { return nil, nil }

func monday(hour int) time.Time { return time.Date(2026, 11, 16, hour, 0, 0, 0, time.UTC) }

func query(by postreport.Dimension, m postreport.Metric) postreport.Query {
	return postreport.Query{From: monday(0), To: monday(0).AddDate(0, 0, 7), By: by, Metric: m}
}

func measured(name string, likes int64, at time.Time) postreport.Row {
	return postreport.Row{PostID: uuid.New(), Network: name, PostedAt: at, Metrics: map[network.Metric]int64{
		network.MetricLikes: likes,
	}}
}

// A number that is not known is no zero: it is part of no sum, mean or sample.
func TestReport_UnknownIsNotZero(t *testing.T) {
	unknown := postreport.Row{PostID: uuid.New(), Network: "telegram", PostedAt: monday(9)}
	r := postreport.Reporter{
		Store: rows{measured("mastodon", 10, monday(9)), unknown, {Network: "mastodon", PostedAt: monday(9)}},
	}
	got, err := r.Report(t.Context(), query(postreport.ByNetwork, postreport.Engagement))
	if err != nil || len(got.Groups) != 2 {
		t.Fatalf("got %+v, %v, want 2 groups", got, err)
	}
	first, second := got.Groups[0], got.Groups[1]
	if first.Value != "mastodon" || first.Posts != 2 || first.Known[postreport.Engagement] != 1 ||
		first.Estimate.Mean != 10 {
		t.Errorf("mastodon: got %+v with %+v, want a mean of 10 from 1 of 2 posts", first, first.Estimate)
	}
	if _, ok := second.Totals[postreport.Engagement]; ok || second.Estimate != nil {
		t.Errorf("telegram: got %+v, want no engagement", second)
	}
	posts, err := r.Report(t.Context(), query(postreport.ByPost, postreport.Engagement))
	if err != nil || len(posts.Rows) != 3 || posts.Rows[2].Value(postreport.Engagement) != nil {
		t.Errorf("posts: got %+v, %v, want unknown ones last", posts.Rows, err)
	}
}

func TestReport_GroupsByTimeInTheZone(t *testing.T) {
	zone := time.FixedZone("UTC+7", 7*3600)
	q := query(postreport.ByWeekday, postreport.Engagement)
	q.Zone = zone
	r := postreport.Reporter{Store: rows{measured("x", 1, monday(16)), measured("x", 2, monday(18))}}
	got, err := r.Report(t.Context(), q)
	if err != nil || len(got.Groups) != 2 || got.Groups[0].Value != "1" || got.Groups[1].Value != "2" {
		t.Errorf("weekdays: got %+v, %v, want Monday and Tuesday", got.Groups, err)
	}
	q.By = postreport.ByHour
	got, err = r.Report(t.Context(), q)
	if err != nil || len(got.Groups) != 2 || got.Groups[0].Value != "1" || got.Groups[1].Value != "23" {
		t.Errorf("hours: got %+v, %v, want 1 and 23", got.Groups, err)
	}
}

// Nothing is concluded from few posts, or from differences within the noise.
func TestHighlights_NamesOnlyClearDifferences(t *testing.T) {
	var all rows
	for i := range 30 {
		all = append(all, measured("mastodon", int64(8+i%5), monday(9)))
	}
	for i := range 8 {
		all = append(all, measured("bluesky", int64(40+i), monday(9)))
	}
	all = append(all, measured("threads", 500, monday(9)), measured("threads", 1, monday(9))) // too few
	r := postreport.Reporter{Store: all}
	got, err := r.Highlights(t.Context(), query("", postreport.Engagement))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]postreport.Group{}
	for _, g := range got.Groups {
		values[g.Value] = g
	}
	if g, ok := values["bluesky"]; !ok || g.Estimate.Posts != 8 || g.Estimate.Low <= *got.Average ||
		g.Estimate.High <= g.Estimate.Mean {
		t.Errorf("bluesky: got %+v, want a clear highlight above %v", g.Estimate, *got.Average)
	}
	if g, ok := values["mastodon"]; !ok || g.Estimate.Lift >= 1 {
		t.Errorf("mastodon: got %+v, want clearly below the average", g.Estimate)
	}
	if g, ok := values["threads"]; ok {
		t.Errorf("threads: got %+v, want nothing from 2 posts", g.Estimate)
	}
	if got.Unclear == 0 {
		t.Error("unclear groups: got 0, want threads")
	}
	again, err := r.Highlights(t.Context(), query("", postreport.Engagement))
	if err != nil || len(again.Groups) != len(got.Groups) ||
		again.Groups[0].Estimate.Low != got.Groups[0].Estimate.Low {
		t.Errorf("the same posts: got %+v after %+v, want the same intervals", again.Groups, got.Groups)
	}
}

func TestReport_ChecksThePeriod(t *testing.T) {
	r := postreport.Reporter{Store: rows{}}
	q := query("", "")
	q.To = q.From
	if _, err := r.Report(t.Context(), q); err == nil {
		t.Error("an empty period: got no error")
	}
	q.To = q.From.AddDate(2, 0, 0)
	if _, err := r.Highlights(t.Context(), q); err == nil {
		t.Error("two years: got no error")
	}
}
