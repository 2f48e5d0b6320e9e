// Command peers runs the cases of other projects against Dateline. It fetches their pinned
// public packages into a temporary folder; nothing of theirs is part of Dateline. It
// prints how many cases passed, failed, or are different on purpose, for reasons that
// docs/reference/peers.md explains, and fails if one failed.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
)

// part runs the cases of some projects against one area of Dateline.
type part struct {
	name     string
	packages []string // as fetch takes them
	run      func(dir string, show func(format string, args ...any)) ([]result, error)
}

// result counts the cases of one list.
type result struct {
	list                      string
	passed, failed, different int
	note                      string
}

// parts lists all parts. A new one is a file with its function, and a line here.
func parts() []part {
	return []part{botsPart(), recurrencePart(), datesPart(), mediaPart()}
}

func main() {
	only := flag.String("part", "", "run one `part` only")
	verbose := flag.Bool("v", false, "print each case that failed or is different")
	flag.Parse()
	if err := run(*only, *verbose); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(only string, verbose bool) error {
	failed, names := 0, []string{}
	for _, p := range parts() {
		names = append(names, p.name)
		if only != "" && only != p.name {
			continue
		}
		dir, err := os.MkdirTemp("", "peers")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		for _, spec := range p.packages {
			if err := fetch(dir, spec); err != nil {
				return fmt.Errorf("fetch %s: %w", spec, err)
			}
		}
		show := func(format string, args ...any) {
			if verbose {
				_, _ = fmt.Fprintf(os.Stdout, format+"\n", args...)
			}
		}
		results, err := p.run(dir, show)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		failed += printResults(p.name, results)
	}
	if only != "" && !strings.Contains(strings.Join(names, "\n"), only) {
		return fmt.Errorf("there is no part %q; there are %s", only, strings.Join(names, ", "))
	}
	if failed > 0 {
		return fmt.Errorf("%d cases failed; -v lists them", failed)
	}
	return nil
}

// printResults prints the results of a part and returns how many cases failed.
func printResults(name string, results []result) (failed int) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "%s\tpassed\tfailed\tdifferent on purpose\t\n", name)
	for _, r := range results {
		failed += r.failed
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", r.list, r.passed, r.failed, r.different, r.note)
	}
	_ = w.Flush()
	return failed
}
