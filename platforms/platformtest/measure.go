package platformtest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// MetricCase is a metric that a network reports about an ordinary post.
type MetricCase struct {
	Metric network.Metric
	Name   string // the network's own; empty: it is part of the API's objects, and cannot be retired
	// Refused means that the network refuses a call that names the metric when it no
	// longer reports it. Other networks leave it out of their responses.
	Refused bool
	// OnlyWithScope means that it needs Subject.InsightsScope.
	OnlyWithScope bool
}

// testMeasure reads the metrics of published posts, with every metric retired in
// turn, and with deleted posts, missing scopes, used-up credit and rate limits.
func testMeasure(t *testing.T, s Subject) {
	measurer, ok := s.Network.(network.Measurer)
	if !ok {
		if s.Metrics != nil {
			t.Error("the network is no network.Measurer")
		}
		return
	}
	if rules := measurer.MeasureRules(s.Account, network.PostRef{}); rules.Unsupported != "" {
		if s.Metrics != nil {
			t.Errorf("the account cannot be measured: %s", rules.Unsupported)
		}
		return
	}
	if s.Metrics == nil {
		t.Fatal("the network is a network.Measurer: Subject.Metrics is not set")
	}
	posts := []string{
		publish(t, s, submission(t, s, "Measured one")).RemoteID,
		publish(t, s, submission(t, s, "Measured two")).RemoteID,
	}
	s.Fake.AgePosts(24 * time.Hour)
	m := measureTest{s, measurer, posts}
	t.Run("Rules", m.rules)
	t.Run("Values", m.values)
	for _, c := range s.Metrics {
		if c.Name == "" {
			continue
		}
		t.Run("Retired/"+string(c.Metric), func(t *testing.T) { m.retired(t, c) })
	}
	t.Run("MissingScope", m.missingScope)
	t.Run("Refusals", m.refusals)
	t.Run("Admit", m.admit)
	t.Run("Deleted", m.deleted)
}

type measureTest struct {
	Subject

	measurer network.Measurer
	posts    []string
}

func (m measureTest) request(skip ...string) network.MeasureRequest {
	r := network.MeasureRequest{Skip: skip}
	for _, id := range m.posts {
		r.Posts = append(r.Posts, network.PostRef{RemoteID: id, Age: 24 * time.Hour, Insights: true})
	}
	return r
}

func (m measureTest) measure(t *testing.T, request network.MeasureRequest) network.Measured {
	t.Helper()
	got, err := m.measurer.Measure(t.Context(), m.Account, request)
	if err != nil {
		t.Fatalf("Measure: %v", err)
	}
	return got
}

// wanted returns the metrics that are expected, sorted, without one of them.
func (m measureTest) wanted(without network.Metric) []network.Metric {
	var out []network.Metric
	for _, c := range m.Metrics {
		if c.Metric != without {
			out = append(out, c.Metric)
		}
	}
	slices.Sort(out)
	return out
}

func (m measureTest) wantValues(t *testing.T, got network.Measured, want []network.Metric) {
	t.Helper()
	for _, id := range m.posts {
		p := got.Posts[id]
		if p.State != network.PostMeasured {
			t.Fatalf("state of %s: got %q, want %q", id, p.State, network.PostMeasured)
		}
		if names := slices.Sorted(maps.Keys(p.Values)); !slices.Equal(names, want) {
			t.Errorf("metrics of %s: got %v, want %v", id, names, want)
		}
		for name, value := range p.Values {
			if value <= 0 {
				t.Errorf("%s of a post that is a day old: got %d, want more than 0", name, value)
			}
		}
	}
}

func (m measureTest) rules(t *testing.T) {
	rules := m.measurer.MeasureRules(m.Account, network.PostRef{RemoteID: m.posts[0]})
	if rules.Unsupported != "" || rules.Batch < 1 || len(rules.Readings) == 0 || !slices.IsSorted(rules.Readings) {
		t.Errorf("got rules %+v, want a batch and sorted readings", rules)
	}
	if rules.Quota.Bucket == "" || rules.Quota.Requests < 1 || rules.Quota.Per <= 0 ||
		rules.Quota.Costs[network.CallMeasure] != 1 {
		t.Errorf("got quota %+v, want a limit of measuring calls", rules.Quota)
	}
	for _, at := range rules.Insights {
		if !slices.Contains(rules.Readings, at) {
			t.Errorf("insights are read at %v, which is not one of %v", at, rules.Readings)
		}
	}
	for _, c := range m.Metrics {
		if !slices.Contains(rules.Metrics, c.Metric) {
			t.Errorf("rules.Metrics: got %v, want also %s", rules.Metrics, c.Metric)
		}
	}
}

// values checks that exactly the reported metrics are there, and that they grow.
func (m measureTest) values(t *testing.T) {
	first := m.measure(t, m.request())
	m.wantValues(t, first, m.wanted(""))
	if len(first.Refused) > 0 || first.MissingScope != "" {
		t.Errorf("refused %v, missing scope %q, want none", first.Refused, first.MissingScope)
	}
	m.Fake.AgePosts(24 * time.Hour)
	second := m.measure(t, m.request())
	for _, id := range m.posts {
		grown := false
		for name, before := range first.Posts[id].Values {
			after := second.Posts[id].Values[name]
			if after < before {
				t.Errorf("%s of %s: got %d after %d, want no less", name, id, after, before)
			}
			grown = grown || after > before
		}
		if !grown {
			t.Errorf("no metric of %s has grown in a day", id)
		}
	}
}

// retired checks that a metric that a network no longer reports is absent, that all
// others are there, and that it is not requested again.
func (m measureTest) retired(t *testing.T, c MetricCase) {
	inject(t, m.Subject, fake.Fault{Kind: fake.RetiredMetric, Metric: c.Name, Count: -1})
	got := m.measure(t, m.request())
	want := m.wanted(c.Metric)
	if c.Refused { // other metrics may have the same name
		want = slices.DeleteFunc(want, func(name network.Metric) bool {
			return slices.ContainsFunc(m.Metrics, func(o MetricCase) bool {
				return o.Metric == name && o.Name == c.Name
			})
		})
	}
	m.wantValues(t, got, want)
	if !c.Refused {
		if len(got.Refused) > 0 {
			t.Errorf("refused: got %v, want none", got.Refused)
		}
		return
	}
	if !slices.Equal(got.Refused, []string{c.Name}) {
		t.Errorf("refused: got %v, want %v", got.Refused, []string{c.Name})
	}
	if again := m.measure(t, m.request(c.Name)); len(again.Refused) > 0 {
		t.Errorf("refused although it was skipped: %v", again.Refused)
	} else {
		m.wantValues(t, again, want)
	}
}

// missingScope checks that the metrics that need no other scope are read.
func (m measureTest) missingScope(t *testing.T) {
	if m.InsightsScope == "" {
		return
	}
	inject(t, m.Subject, fake.Fault{Kind: fake.MissingScope, Scope: m.InsightsScope, Count: -1})
	got := m.measure(t, m.request())
	if got.MissingScope != m.InsightsScope {
		t.Errorf("missing scope: got %q, want %q", got.MissingScope, m.InsightsScope)
	}
	var want []network.Metric
	for _, c := range m.Metrics {
		if !c.OnlyWithScope {
			want = append(want, c.Metric)
		}
	}
	slices.Sort(want)
	if len(want) > 0 {
		m.wantValues(t, got, want)
	} else if len(got.Posts) > 0 {
		t.Errorf("posts: got %+v, want none", got.Posts)
	}
}

func (m measureTest) refusals(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault fake.Fault
		class network.Class
	}{
		{"Status402", fake.Fault{Kind: fake.Status, Status: http.StatusPaymentRequired}, network.Rejected},
		{
			"Status429",
			fake.Fault{Kind: fake.Status, Status: http.StatusTooManyRequests, For: time.Minute},
			network.Throttled,
		},
		{"Status503", fake.Fault{Kind: fake.Status, Status: http.StatusServiceUnavailable}, network.Transient},
		{"TokenExpired", fake.Fault{Kind: fake.TokenExpired}, network.Auth},
		{"ResetBefore", fake.Fault{Kind: fake.ResetBefore}, network.Transient},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.name == "TokenExpired" && m.PublicReads {
				return
			}
			row.fault.Method, row.fault.Count = http.MethodGet, -1
			inject(t, m.Subject, row.fault)
			_, err := m.measurer.Measure(t.Context(), m.Account, m.request())
			e := wantError(t, err, row.class, m.Account.Token)
			switch row.name {
			case "Status402":
				if e.Status != http.StatusPaymentRequired && !m.NoStatus {
					t.Errorf("status: got %d, want %d", e.Status, http.StatusPaymentRequired)
				}
			case "Status429":
				if !m.DailyQuota && time.Until(e.RetryAt).Abs() > 2*time.Minute || e.RetryAt.IsZero() {
					t.Errorf("retry at: got %v, want in about a minute", e.RetryAt)
				}
			}
		})
	}
}

// admit checks that no call is made without permission.
func (m measureTest) admit(t *testing.T) {
	refusal := &network.Error{Class: network.Throttled, Code: "share_used", Message: "Not now."}
	inject(t, m.Subject, fake.Fault{Kind: fake.ResetBefore, Count: -1})
	request := m.request()
	request.Admit = func(context.Context) error { return refusal }
	got, err := m.measurer.Measure(t.Context(), m.Account, request)
	if !errors.Is(err, refusal) {
		t.Errorf("error: got %v, want the one of Admit", err)
	}
	if len(got.Posts) > 0 {
		t.Errorf("posts: got %+v, want none", got.Posts)
	}
	clearFaults(t, m.Subject)
	calls := 0
	request.Admit = func(context.Context) error { calls++; return nil }
	if got := m.measure(t, request); len(got.Posts) != len(m.posts) {
		t.Errorf("%d posts, want %d", len(got.Posts), len(m.posts))
	}
	if calls == 0 {
		t.Error("Admit was not called")
	}
}

// deleted checks that a post that is gone does not fail the reading of others.
func (m measureTest) deleted(t *testing.T) {
	clearFaults(t, m.Subject)
	if ok, err := m.Fake.DeletePost(m.posts[0]); err != nil || !ok {
		t.Fatalf("DeletePost(%s) = %v, %v", m.posts[0], ok, err)
	}
	got := m.measure(t, m.request())
	if state := got.Posts[m.posts[0]].State; state != network.PostMissing {
		t.Errorf("deleted post: got state %q, want %q", state, network.PostMissing)
	}
	if values := got.Posts[m.posts[0]].Values; len(values) > 0 {
		t.Errorf("deleted post: got values %v, want none", values)
	}
	if state := got.Posts[m.posts[1]].State; state != network.PostMeasured {
		t.Errorf("other post: got state %q, want %q", state, network.PostMeasured)
	}
}
