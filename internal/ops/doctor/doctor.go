// Package doctor looks at everything that an installation stands on, and says
// what is wrong and what to do about it. It changes nothing: what it writes to
// try a permission, it takes away again.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
)

// Level is how a check ended.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Warning Level = "warning" // works, and will not for ever or not as it should
	Failure Level = "failure" // does not work
)

// Finding is what one check found.
type Finding struct {
	Check  string `json:"check"` // what was looked at
	Level  Level  `json:"level"`
	Text   string `json:"text"`             // what is so
	Advice string `json:"advice,omitempty"` // what to do
}

// Options say what is looked at.
type Options struct {
	Config           *config.Config // with the engines' addresses
	Keyset           secret.Source
	SearchAttributes map[string]string // names and types that the Temporal namespace has to know
	TaskQueue        string            // that a worker has to poll
	Now              func() time.Time  // nil: time.Now
}

// patience is how long one engine may take for all of its checks.
const patience = 20 * time.Second

// Examine carries out every check, each engine for itself, so that one that
// hangs hides nothing of the others.
func Examine(ctx context.Context, o Options) []Finding {
	if o.Now == nil {
		o.Now = time.Now
	}
	checks := []func(context.Context, Options) []Finding{settings, database, cache, objectStore, temporal, searchEngine, keyset, certificates, disk}
	found := make([][]Finding, len(checks))
	done := make(chan int)
	for i, check := range checks {
		go func() {
			ctx, cancel := context.WithTimeout(ctx, patience)
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

// Failed says whether anything does not work.
func Failed(all []Finding) bool {
	for _, f := range all {
		if f.Level == Failure {
			return true
		}
	}
	return false
}

// Print writes findings for a person.
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

// PrintJSON writes findings for a program.
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

// list gathers the findings of one engine.
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
