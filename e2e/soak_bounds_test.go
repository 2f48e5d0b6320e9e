package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// wantFlat compares the first third of the samples after settling with the last.
func (s *soak) wantFlat() {
	s.t.Helper()
	if *soakReport != "" {
		f, err := os.Create(*soakReport)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, one := range s.samples {
			if err := json.NewEncoder(f).Encode(one); err != nil {
				s.t.Error(err)
			}
		}
		_ = f.Close()
	}
	first := s.until.Add(-*soakFor).Add(min(settle, *soakFor/2))
	rest := slices.DeleteFunc(slices.Clone(s.samples), func(one sample) bool { return one.At.Before(first) })
	if len(rest) < 3 {
		s.t.Fatalf("%d samples", len(rest))
	}
	third := len(rest) / 3
	early, lately := median(rest[:third]), median(rest[len(rest)-third:])
	s.t.Logf("heap %.0f → %.0f MB, resident %.0f → %.0f MB, goroutines %.0f → %.0f, files %.0f → %.0f", early.Heap/1e6,
		lately.Heap/1e6,
		early.Resident/1e6, lately.Resident/1e6, early.Goroutines, lately.Goroutines, early.Files, lately.Files)
	if *soakFor < settle+time.Minute {
		s.t.Logf("%s is too short to see whether anything grows", *soakFor)
		return
	}
	if lately.Heap > early.Heap*heapGrowth+heapSlack {
		s.t.Errorf("memory grows: %.0f MB, then %.0f MB", early.Heap/1e6, lately.Heap/1e6)
	}
	for what, pair := range map[string][2]float64{
		"goroutines": {early.Goroutines, lately.Goroutines},
		"open files": {early.Files, lately.Files},
	} {
		if pair[1] > pair[0]*goroutineGrowth+goroutineSlack {
			s.t.Errorf("%s grow: %.0f, then %.0f", what, pair[0], pair[1])
		}
	}
}

func median(all []sample) sample {
	of := func(get func(sample) float64) float64 {
		values := make([]float64, len(all))
		for i, one := range all {
			values[i] = get(one)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return sample{
		Heap:       of(func(s sample) float64 { return s.Heap }),
		Resident:   of(func(s sample) float64 { return s.Resident }),
		Goroutines: of(func(s sample) float64 { return s.Goroutines }),
		Files:      of(func(s sample) float64 { return s.Files }),
	}
}

// causes are warnings that a soak on one busy machine may log, and why they are
// harmless.
func causes() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"a poller's request ends when the program starts or stops": regexp.MustCompile(
			`Failed to poll for task`),
		"a busy machine is late by a moment, and says so once a post": regexp.MustCompile(`"a post is late"`),
		"readiness is checked before the worker has started": regexp.MustCompile(
			`"health check failed".*no worker polls`),
		"Temporal was slow to answer on a busy machine; it was " +
			"asked again": regexp.MustCompile(
			`context deadline exceeded|Task processing failed with error|the next run tries`),
	}
}

// isBusyMoment reports whether a line says that the program got no processor time for some
// seconds. A soak of seconds runs next to other tests; longer ones have the machine to
// themselves.
func isBusyMoment(line string) bool {
	return *soakFor < time.Minute && (strings.Contains(line, `"a post never arrived at this worker`) ||
		strings.Contains(line, "RecordActivityHeartbeat with error") || strings.Contains(line, `"Activity error."`) &&
		strings.Contains(line, `context canceled"`))
}

// wantNoErrors checks the program's log.
func (s *soak) wantNoErrors() {
	s.t.Helper()
	for line := range strings.Lines(s.log.String()) {
		if !strings.Contains(line, `"level":"WARN"`) && !strings.Contains(line, `"level":"ERROR"`) {
			continue
		}
		known := isBusyMoment(line)
		for _, cause := range causes() {
			known = known || cause.MatchString(line)
		}
		if !known {
			s.t.Errorf("a line without a cause: %s", line)
		}
	}
}

// daily is a news site with a new article every few seconds.
type daily struct {
	*httptest.Server
	began time.Time
}

const articleEvery = 5 * time.Second

func newDaily(t *testing.T) *daily {
	t.Helper()
	d := &daily{began: time.Now()}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/robots.txt":
			w.WriteHeader(http.StatusNotFound)
		case "/":
			_, _ = io.WriteString(w, "<html><body>")
			for i := d.published(); i > max(0, d.published()-60); i-- {
				_, _ = fmt.Fprintf(w,
					`<p><a href="/2026/11/22/bai-viet-so-%d-%d.html">Bài viết số %d của chúng tôi hôm nay</a></p>`, i,
					100000+i, i)
			}
			_, _ = io.WriteString(w, "</body></html>")
		default:
			_, _ = fmt.Fprintf(w,
				"<html><head><title>%s</title></head><body><article><h1>%[1]s</h1>%s</article></body></html>",
				r.URL.Path,
				strings.Repeat("<p>Một đoạn văn dài của bài viết "+r.URL.Path+".</p>", 40))
		}
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *daily) published() int { return int(time.Since(d.began)/articleEvery) + 1 }
