// Package doctor checks the settings, the engines and the host of an installation, and
// reports problems with advice. It makes no lasting changes: test data is deleted again.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
)

// Level is the result of a check.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Warning Level = "warning" // works, but needs attention
	Failure Level = "failure" // does not work
)

// Finding is the result of one check with its details.
type Finding struct {
	Check  string `json:"check"` // name of the check
	Level  Level  `json:"level"`
	Text   string `json:"text"`             // the current state
	Advice string `json:"advice,omitempty"` // what to do
}

// Options configure the checks.
type Options struct {
	Config           *config.Config // with the engines' addresses
	Keyset           secret.Source
	SearchAttributes map[string]string // names and types that the Temporal namespace must have
	TaskQueue        string            // that a worker must poll
	Now              func() time.Time  // if nil, time.Now
	HTTP             *http.Client      // for the API behind its proxy; if nil, http.DefaultClient
}

// checkTimeout is the time limit for all checks of one engine.
const checkTimeout = 20 * time.Second

// Run runs all checks. Engines are checked concurrently, so that an unresponsive one does
// not affect the others.
func Run(ctx context.Context, o Options) []Finding {
	if o.Now == nil {
		o.Now = time.Now
	}
	checks := []func(context.Context, Options) []Finding{
		settings, timeZones, database, cache, objectStore, temporal,
		searchEngine, proxy, provider, mailServer, keyset, certificates, disk,
	}
	found := make([][]Finding, len(checks))
	done := make(chan int)
	for i, check := range checks {
		go func() {
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			found[i] = check(ctx, o)
			done <- i
		}()
	}
	for range checks {
		<-done
	}
	var all []Finding
	for _, f := range found {
		all = append(all, f...)
	}
	return all
}

// Failed reports whether any check failed.
func Failed(all []Finding) bool {
	for _, f := range all {
		if f.Level == Failure {
			return true
		}
	}
	return false
}

// Print prints findings as text.
func Print(w io.Writer, all []Finding) error {
	warnings, failures := 0, 0
	for _, f := range all {
		if _, err := fmt.Fprintf(w, "%-8s %-20s %s\n", f.Level, f.Check, f.Text); err != nil {
			return err
		}
		if f.Advice != "" {
			if _, err := fmt.Fprintf(w, "%29s → %s\n", "", f.Advice); err != nil {
				return err
			}
		}
		switch f.Level {
		case Warning:
			warnings++
		case Failure:
			failures++
		}
	}
	_, err := fmt.Fprintf(w, "\n%d checks, %d warnings, %d failures\n", len(all), warnings, failures)
	return err
}

// PrintJSON prints findings as JSON.
func PrintJSON(w io.Writer, all []Finding) error {
	out := struct {
		OK       bool      `json:"ok"`
		Findings []Finding `json:"findings"`
	}{!Failed(all), all}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

// list collects the findings of one engine.
type list []Finding

func (l *list) ok(check, text string, args ...any) {
	*l = append(*l, Finding{Check: check, Level: OK, Text: fmt.Sprintf(text, args...)})
}

func (l *list) warn(check, advice, text string, args ...any) {
	*l = append(*l, Finding{check, Warning, fmt.Sprintf(text, args...), advice})
}

func (l *list) fail(check, advice, text string, args ...any) {
	*l = append(*l, Finding{check, Failure, fmt.Sprintf(text, args...), advice})
}
