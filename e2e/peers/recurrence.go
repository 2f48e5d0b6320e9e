package main

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"dateline/internal/publishing/recurrence"
)

// recurrencePart compares recurrence rules with dateutil: the rules of its tests, and a grid
// of the rules that Dateline supports, which dateutil expands.
func recurrencePart() part {
	return part{name: "recurrence", run: runRecurrence, packages: []string{
		"pypi:python-dateutil==2.9.0.post0", "pypi:six==1.17.0",
	}}
}

//go:embed recurrence.py
var recurrenceScript string //nolint:gochecknoglobals // embedded

// ruleCase is a rule with its first times on the wall clock.
type ruleCase struct {
	Rule, Start string
	Times       []string
}

func runRecurrence(dir string, show func(string, ...any)) ([]result, error) {
	var lists struct{ Tests, Grid []ruleCase }
	if err := runPython(dir, recurrenceScript, &lists); err != nil {
		return nil, err
	}
	var results []result
	for _, l := range []struct {
		name  string
		cases []ruleCase
		isOwn bool // every rule must be read
	}{{"tests of dateutil", lists.Tests, false}, {"rules that dateutil expands", lists.Grid, true}} {
		r := result{list: l.name}
		for _, c := range l.cases {
			rule, err := recurrence.Parse(c.Rule)
			if err != nil && !l.isOwn && strings.Contains(err.Error(), "support") {
				r.different++
				show("%s: different (not supported): %s: %v", l.name, c.Rule, err)
				continue
			}
			got, problem := expandRule(rule, c)
			if err != nil || problem != nil || !slices.Equal(got, c.Times) {
				r.failed++
				show("%s: FAILED: %s from %s: got %v (%v, %v), want %v", l.name, c.Rule, c.Start, got, err, problem, c.Times)
				continue
			}
			r.passed++
		}
		results = append(results, r)
	}
	return results, nil
}

// expandRule returns as many times of a rule as a case has, and one more if the rule does
// not end there.
func expandRule(rule recurrence.Rule, c ruleCase) (times []string, err error) {
	start, err := recurrence.ParseLocal(c.Start)
	if err != nil {
		return nil, err
	}
	const shown = 40 // as in the script
	for o := range rule.Occurrences(start, time.UTC) {
		if times = append(times, o.Name()); len(times) == shown || len(times) > len(c.Times) {
			break
		}
	}
	return times, nil
}

// runPython runs a script in the folder of the packages, and decodes the JSON that it prints.
func runPython(dir, script string, out any) error {
	cmd := exec.Command("python3", "-c", script) //nolint:gosec // embedded
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}
