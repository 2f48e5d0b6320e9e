package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"dateline/internal/news/article/eval"
)

// eval measures the extraction on datasets with ground truth.
func (p *Program) eval(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] != "articles" {
		_, _ = fmt.Fprintln(p.Stderr, "Usage: dateline eval articles --data DIR")
		return errUsage
	}
	set, _ := p.flags("eval articles")
	dir := set.String("data", "", "`folder` with one or more datasets (docs/how-to/evaluate-extraction.md)")
	if err := p.parse(set, args[1:]); err != nil {
		return err
	}
	if *dir == "" {
		_, _ = fmt.Fprintln(p.Stderr, "dateline eval articles: --data is required")
		return errUsage
	}
	sets, others, err := eval.FindDatasets(*dir)
	if err != nil {
		return err
	}
	for _, o := range others {
		_, _ = fmt.Fprintf(p.Stdout, "%s: skipped, because it has no ground-truth.json\n", o)
	}
	all := eval.Result{Dataset: "all"}
	for _, s := range sets {
		r, err := eval.Evaluate(ctx, s, func(pages, of int) { _, _ = fmt.Fprintf(p.Stderr, "\r%s: %d of %d pages ", s, pages, of) })
		_, _ = fmt.Fprint(p.Stderr, "\n")
		if err != nil {
			return err
		}
		p.printTable(r)
		all.Merge(r)
		if len(sets) == 1 {
			all.Dataset = r.Dataset
		} else if err := p.printJSON(r); err != nil {
			return err
		}
	}
	if len(sets) > 1 {
		p.printTable(all)
	}
	return p.printJSON(all)
}

// printTable prints a result as a table.
func (p *Program) printTable(r eval.Result) {
	_, _ = fmt.Fprintf(p.Stdout, "\n%s, %d pages%26s%17s\n", r.Dataset, r.Own.Body.Pages, "Dateline", "go-trafilatura")
	row := func(name, own, baseline string) {
		_, _ = fmt.Fprintf(p.Stdout, "  %-28s%10s%17s\n", name, own, baseline)
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', 4, 64) }
	share := func(s eval.Ratio) string {
		if s.Total == 0 {
			return "-"
		}
		return fmt.Sprintf("%d of %d", s.Right, s.Total)
	}
	own, base := r.Own, r.Baseline
	row("F1 of the body", number(own.Body.F1()), number(base.Body.F1()))
	row("precision", number(own.Body.Precision()), number(base.Body.Precision()))
	row("recall", number(own.Body.Recall()), number(base.Body.Recall()))
	row("exact title", share(own.Title), share(base.Title))
	row("exact authors", share(own.Author), share(base.Author))
	row("publication date", share(own.Date), share(base.Date))
	row("publication minute", share(own.Minute), "-")
	row("pages without text", strconv.Itoa(own.Empty), strconv.Itoa(base.Empty))
	row("pages per second and core", strconv.FormatFloat(own.PerSecond(), 'f', 1, 64), strconv.FormatFloat(base.PerSecond(), 'f', 1, 64))
	if r.BaselineFilled > 0 {
		_, _ = fmt.Fprintf(p.Stdout, "  %d pages are empty, but not with go-trafilatura\n", r.BaselineFilled)
	}
	_, _ = fmt.Fprintln(p.Stdout)
}

// printJSON prints a result as JSON. Values without ground truth are null.
func (p *Program) printJSON(r eval.Result) error {
	round := func(f float64) float64 { return math.Round(f*1e4) / 1e4 }
	rounded := func(s eval.Ratio) *float64 {
		v := s.Value()
		if v != nil {
			*v = round(*v)
		}
		return v
	}
	return json.NewEncoder(p.Stdout).Encode(struct {
		Set               string   `json:"set"`
		Pages             int      `json:"pages"`
		F1                float64  `json:"f1"`
		BaselineF1        float64  `json:"baseline_f1"`
		Title             *float64 `json:"title"`
		Author            *float64 `json:"author"`
		Date              *float64 `json:"date"`
		BaselineTitle     *float64 `json:"baseline_title"`
		BaselineAuthor    *float64 `json:"baseline_author"`
		BaselineDate      *float64 `json:"baseline_date"`
		Minute            *float64 `json:"minute"`
		Empty             int      `json:"empty"`
		BaselineFilled    int      `json:"empty_that_baseline_fills"`
		PagesPerS         float64  `json:"pages_per_s"`
		BaselinePagesPerS float64  `json:"baseline_pages_per_s"`
	}{r.Dataset, r.Own.Body.Pages, round(r.Own.Body.F1()), round(r.Baseline.Body.F1()), rounded(r.Own.Title), rounded(r.Own.Author), rounded(r.Own.Date),
		rounded(r.Baseline.Title), rounded(r.Baseline.Author), rounded(r.Baseline.Date), rounded(r.Own.Minute), r.Own.Empty, r.BaselineFilled,
		round(r.Own.PerSecond()), round(r.Baseline.PerSecond())})
}
