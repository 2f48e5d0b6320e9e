// Command capacity computes how many nodes a newsroom of a given size needs from
// measured costs, and simulates a day to check the result. docs/explanation/scaling.md explains how to read it.
//
//	go run ./deploy/capacity
//	go run ./deploy/capacity -set posts=1e6 -set views=20e3 -figures
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	flags := flag.NewFlagSet("capacity", flag.ContinueOnError)
	replace := map[string]float64{}
	flags.Func("set", "a figure to replace, as `name=number`; repeatable", func(s string) error {
		name, text, ok := strings.Cut(s, "=")
		value, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil {
			return fmt.Errorf("%q is not name=number", s)
		}
		replace[name] = value
		return nil
	})
	figures := flags.Bool("figures", false, "list every figure with its source")
	scale := flags.Float64("scale", 0.1, "the share of the day that is simulated")
	seed := flags.Uint64("seed", 1, "seed of the simulation")
	if err := flags.Parse(args); err != nil {
		return err
	}
	m, err := NewModel(replace)
	if err != nil {
		return err
	}
	if *scale <= 0 || *scale > 1 {
		return fmt.Errorf("-scale %g must be more than 0 and at most 1", *scale)
	}
	if *figures {
		table(w, "Measured", Measured(), m)
		table(w, "Assumed", Assumed(), m)
	}
	_, _ = fmt.Fprintf(w, "%-42s %12s %-6s %s\n", "Needed", "", "", "from")
	for _, n := range m.Needs() {
		_, _ = fmt.Fprintf(w, "%-42s %12s %-6s %s\n", n.Name, short(n.Amount), n.Unit, n.Why)
	}
	d := m.Simulate(*scale, *seed)
	_, err = fmt.Fprintf(w, "\nA simulated day (%g of it): %d posts, %d dispatched; %s a second in the busiest hour, "+
		"%s accounts due at the worst second\n"+
		"  late by p50 %.1f s, p99 %.1f s, at most %.1f s; Temporal's busiest minute %.0f %%\n",
		*scale, d.Posts, d.Dispatched, short(d.PeakHour), short(float64(d.WorstSecond)/(*scale)), d.LateP50, d.LateP99,
		d.LateMax, 100*d.Busy)
	return err
}

func table(w io.Writer, title string, figures []Figure, m *Model) {
	_, _ = fmt.Fprintf(w, "%s\n", title)
	for _, f := range figures {
		_, _ = fmt.Fprintf(w, "  %-24s %10s %s (%s)\n", f.Name, short(m.get(f.Name)), f.Unit, f.Source)
	}
	_, _ = fmt.Fprintln(w)
}

// short formats a number with three significant digits.
func short(v float64) string {
	switch {
	case v >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
}
