package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func model(t *testing.T, replace map[string]float64) *Model {
	t.Helper()
	m, err := NewModel(replace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func need(t *testing.T, m *Model, name string) float64 {
	t.Helper()
	for _, n := range m.Needs() {
		if n.Name == name {
			return n.Amount
		}
	}
	t.Fatalf("no need %q", name)
	return 0
}

func TestSimulate_AgreesWithFormulas(t *testing.T) {
	for _, posts := range []float64{1e5, 1e6, 10e6} {
		m := model(t, map[string]float64{"posts": posts})
		d := m.Simulate(math.Min(1, 1e6/posts), 7)
		scale := math.Min(1, 1e6/posts)
		if off := float64(d.Posts)/(posts*scale) - 1; math.Abs(off) > 0.01 {
			t.Errorf("%g posts a day: %d were simulated", posts, d.Posts)
		}
		if off := d.PeakHour/m.PostRate() - 1; math.Abs(off) > 0.05 {
			t.Errorf("%g posts a day: %g a second in the busiest hour, computed %g", posts, d.PeakHour, m.PostRate())
		}
		if d.Dispatched != d.Posts {
			t.Errorf("%g posts a day: %d of %d are dispatched", posts, d.Dispatched, d.Posts)
		}
	}
}

// With the computed cores, Temporal keeps up with every burst; with half of them it
// does not.
func TestSimulate_KeepsUpWithComputedCores(t *testing.T) {
	d := model(t, nil).Simulate(0.1, 7)
	if d.Backlog > 0 || d.Busy > 1.001 {
		t.Errorf("%+v", d)
	}
	short := model(t, map[string]float64{"utilization": 1.7})
	if d := short.Simulate(0.1, 7); d.Backlog == 0 {
		t.Errorf("got no backlog with too few cores: %+v", d)
	}
}

func TestSimulate_DoesNotDependOnScale(t *testing.T) {
	m := model(t, nil)
	large, small := m.Simulate(0.2, 7), m.Simulate(0.02, 7)
	if math.Abs(large.Busy-small.Busy) > 0.15 || math.Abs(large.LateP99-small.LateP99) > 0.5 {
		t.Errorf("%+v, %+v", large, small)
	}
}

// One database claims 3,000 a second, so a larger burst is late.
func TestSimulate_BurstIsBoundByClaims(t *testing.T) {
	calm := model(t, map[string]float64{"posts.second": 0.001})
	busy := model(t, map[string]float64{"posts.second": 0.1})
	if d := calm.Simulate(0.1, 7); d.LateMax > 0 {
		t.Errorf("got a late calm day: %+v", d)
	}
	if d := busy.Simulate(0.1, 7); d.LateMax == 0 || need(t, busy, "database: seconds to claim the burst") < 2 {
		t.Errorf("got a busy day on time: %+v", d)
	}
}

func TestNeeds_GrowWithFigures(t *testing.T) {
	base := model(t, nil)
	for figure, names := range map[string][]string{
		"posts":       {"Temporal: cores of history and matching", "workers: cores", "database: posts"},
		"views":       {"API: cores for views", "Redis: memory"},
		"sites":       {"crawler: requests a second", "object store: a year of pages", "database: frontier"},
		"targets":     {"calls to networks a second", "Temporal: state transitions a second"},
		"hubs.site":   {"crawler: concurrent sites"},
		"urls.site":   {"database: frontier"},
		"page.stored": {"object store: a year of pages"},
	} {
		double := model(t, map[string]float64{figure: 2 * base.get(figure)})
		for _, name := range names {
			if a, b := need(t, base, name), need(t, double, name); b <= a {
				t.Errorf("twice %s: %s is %g, was %g", figure, name, b, a)
			}
		}
	}
}

func TestFigures_HaveSourceAndEffect(t *testing.T) {
	seen := map[string]bool{}
	base := model(t, nil)
	for _, f := range append(Measured(), Assumed()...) {
		if f.Source == "" || f.Unit == "" || seen[f.Name] {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
		same := true
		for _, factor := range []float64{100, 0.01} {
			for i, n := range model(t, map[string]float64{f.Name: f.Value * factor}).Needs() {
				same = same && n.Amount == base.Needs()[i].Amount
			}
		}
		if same && f.Name != "users" && f.Name != "replicas" {
			t.Errorf("%s has no effect", f.Name)
		}
	}
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-figures", "-scale", "0.01", "-set", "views=20e3"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Measured", "Assumed", "Redis: masters", "A simulated day", "20000"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	for _, wrong := range [][]string{{"-set", "nonsense=1"}, {"-set", "posts"}, {"-set", "posts=-1"}, {"-scale", "2"}} {
		if err := run(wrong, &bytes.Buffer{}); err == nil {
			t.Errorf("%v: got no error", wrong)
		}
	}
}
