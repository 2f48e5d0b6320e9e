package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dateline/internal/cli/progress"
	"dateline/internal/news/article/eval"
	"dateline/internal/news/article/score"
)

// eval measures the extraction on datasets with ground truth.
func (p *Program) eval() *cobra.Command {
	group := p.group("eval", "measure the quality of algorithms on datasets")
	group.AddCommand(p.evalArticles(), p.evalStories())
	return group
}

func (p *Program) evalArticles() *cobra.Command {
	c := p.plainCommand("articles", "measure extraction quality and speed, compared with go-trafilatura")
	set := c.Flags()
	dir := set.String("data", "", "`folder` with one or more datasets (docs/how-to/evaluate-extraction.md)")
	half := set.String("half", "", "only the sites of this `half`: inspect or held-out")
	kind := set.String("type", "", "only pages of this `type`, such as article or forum")
	baseline := set.Bool("baseline", true, "also measure go-trafilatura, which takes most of the time")
	learned := set.Bool("learned", true, "also measure selectors learned from the other pages of a site")
	worst := set.Int("worst", 0, "list the `n` worst pages of the inspected half")
	open := c.showProgress()
	save := set.String("save", "", "write the scores by site to a `file`, for --before of another version")
	before := set.String("before", "", "compare with the scores in a `file` that another version wrote by --save")
	report := set.String("report", "", "write an HTML `file` that shows the worst pages of the inspected half")
	return c.run(func(ctx context.Context, _ []string) error {
		if *dir == "" {
			return usageError("--data is required: dateline eval articles --data DIR")
		}
		if h := score.Half(*half); h != "" && h != score.Inspect && h != score.HeldOut {
			return usageError("--half must be inspect or held-out")
		}
		sets, others, err := eval.FindDatasets(*dir)
		if err != nil {
			return err
		}
		for _, o := range others {
			_, _ = fmt.Fprintf(p.Stdout, "%s: skipped, because it contains no dataset\n", o)
		}
		o := eval.Options{Half: score.Half(*half), Type: *kind, NoLearned: !*learned, Worst: *worst}
		if *baseline {
			if o.Baseline, err = eval.StartBaseline(ctx); err != nil {
				return err
			}
			defer o.Baseline.Close() //nolint:errcheck // it has answered everything
		}
		if *report != "" {
			o.Worst = max(o.Worst, reportPages)
		}
		scores, err := readScores(*before)
		if err != nil {
			return err
		}
		all, line := eval.Result{Dataset: "all"}, open()
		for _, s := range sets {
			r, err := eval.Evaluate(ctx, s, o, func(pages, of int) {
				line.Update("Evaluating "+s, progress.State{Done: int64(pages), Total: int64(of), Unit: "pages"})
			})
			line.End()
			if err != nil {
				return err
			}
			p.printTable(&r)
			p.printDifferences(&r, scores)
			all.Merge(r, o.Worst)
			if len(sets) == 1 {
				all.Dataset = r.Dataset
			} else if err := p.printJSON(&r); err != nil {
				return err
			}
		}
		if len(sets) > 1 {
			p.printTable(&all)
			p.printDifferences(&all, scores)
		}
		if *save != "" {
			if err := scores.write(*save); err != nil {
				return err
			}
		}
		for _, w := range all.Worst[:min(len(all.Worst), *worst)] {
			_, _ = fmt.Fprintf(p.Stdout, "%.3f (go-trafilatura %.3f)  %s/%s  %s  %s\n", w.F1, w.BaselineF1, w.Dataset,
				w.Key, w.Type, w.URL)
		}
		if *report != "" {
			if err := writeReport(*report, all.Worst); err != nil {
				return err
			}
		}
		return p.printJSON(&all)
	})
}

// siteScores are scores by site, of the groups of sets of pages.
type siteScores struct {
	before, now map[string]eval.Sites
}

// readScores reads the scores of another version; without a path there are none.
func readScores(path string) (siteScores, error) {
	s := siteScores{now: map[string]eval.Sites{}}
	if path == "" {
		return s, nil
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the path is an argument of the command
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(raw, &s.before)
}

func (s siteScores) write(path string) error {
	raw, err := json.Marshal(s.now)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}

// printDifferences prints how much better the pages are read than by go-trafilatura and by another
// version, with intervals of 95 %.
func (p *Program) printDifferences(r *eval.Result, s siteScores) {
	for i := range r.Groups {
		g := &r.Groups[i]
		name := strings.TrimSpace(string(g.Half) + " " + g.Type)
		key := r.Dataset + "/" + name
		s.now[key] = g.OwnSites
		for _, other := range []struct {
			name  string
			sites eval.Sites
		}{{"go-trafilatura", g.BaselineSites}, {"before", s.before[key]}} {
			var line strings.Builder
			for _, f := range eval.Figures() {
				if d, ok := f.Compare(g.OwnSites, other.sites); ok {
					_, _ = fmt.Fprintf(&line, "  %s %+.4f [%+.4f, %+.4f]", f.Name, d.By, d.Low, d.High)
				}
			}
			if line.Len() > 0 {
				_, _ = fmt.Fprintf(p.Stdout, "%s, %s - %s:%s\n", r.Dataset, cmp.Or(name, "all"), other.name, &line)
			}
		}
	}
}

// reportPages is the number of pages in a report.
const reportPages = 100

func writeReport(path string, pages []eval.Page) error {
	f, err := os.Create(path) //nolint:gosec // the path is an argument of the command
	if err != nil {
		return err
	}
	if err := eval.WriteReport(f, pages); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// printTable prints a result as tables: body and fields by half and type of page.
func (p *Program) printTable(r *eval.Result) {
	out := func(format string, args ...any) { _, _ = fmt.Fprintf(p.Stdout, format+"\n", args...) }
	mean := func(m eval.Mean) string { return optional(m.Value()) }
	ratio := func(m eval.Ratio) string { return optional(m.Value()) }
	text := func(m *eval.Metrics) string {
		if m.Strings.Found+m.Strings.Missed == 0 {
			return "-"
		}
		return strconv.FormatFloat(m.Strings.F1(), 'f', 4, 64)
	}
	shingles := func(m *eval.Metrics) string {
		if m.Words.Count == 0 {
			return "-"
		}
		return strconv.FormatFloat(m.Body.F1(), 'f', 4, 64)
	}
	out("\n%s: Dateline / go-trafilatura", r.Dataset)
	out("%-24s %5s  %-15s %-15s %-15s %-15s %-15s %-15s %-15s %-15s %-15s %5s", "", "pages", "word F1", "shingle F1",
		"ROUGE-LSum", "strings", "title", "authors", "date", "section", "image", "empty")
	for i := range r.Groups {
		g := &r.Groups[i]
		name := "all"
		if g.Half != "" {
			name = string(g.Half) + " " + g.Type
		}
		own, base := &g.Own, &g.Baseline
		out("%-24s %5d  %-15s %-15s %-15s %-15s %-15s %-15s %-15s %-15s %-15s %2d/%d", name, own.Pages,
			mean(own.Words)+" / "+mean(base.Words), shingles(own)+" / "+shingles(base),
			mean(own.Rouge)+" / "+mean(base.Rouge), text(own)+" / "+text(base),
			ratio(own.Title)+" / "+ratio(base.Title), ratio(own.Author)+" / "+ratio(base.Author),
			ratio(own.Date)+" / "+ratio(base.Date), ratio(own.Section)+" / "+ratio(base.Section),
			ratio(own.Image)+" / "+ratio(base.Image), own.Empty, base.Empty)
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Type == "" && g.Learned.Pages > 0 {
			out("learned on the other pages of the site, %d pages %s: word F1 %s, ROUGE-LSum %s (generic %s, %s)",
				g.Learned.Pages, g.Half,
				mean(g.Learned.Words), mean(g.Learned.Rouge), mean(g.LearnedGeneric.Words),
				mean(g.LearnedGeneric.Rouge))
		}
	}
	all := r.All()
	out("pages per second and core: %.1f / %.1f\n", all.Own.PerSecond(), all.Baseline.PerSecond())
}

func optional(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', 4, 64)
}

// evalFigures are the figures of a group as JSON. Values without ground truth are null.
type evalFigures struct {
	F1             float64  `json:"f1"`
	BaselineF1     float64  `json:"baseline_f1"`
	WordF1         *float64 `json:"word_f1"`
	BaselineWordF1 *float64 `json:"baseline_word_f1"`
	Rouge          *float64 `json:"rouge_lsum"`
	BaselineRouge  *float64 `json:"baseline_rouge_lsum"`
	Strings        *float64 `json:"strings"`
	BaseStrings    *float64 `json:"baseline_strings"`
	Title          *float64 `json:"title"`
	Author         *float64 `json:"author"`
	Date           *float64 `json:"date"`
	Section        *float64 `json:"section"`
	Image          *float64 `json:"image"`
	BaselineTitle  *float64 `json:"baseline_title"`
	BaselineAuthor *float64 `json:"baseline_author"`
	BaselineDate   *float64 `json:"baseline_date"`
	Minute         *float64 `json:"minute"`
	Empty          int      `json:"empty"`
	BaselineEmpty  int      `json:"baseline_empty"`
	Learned        *float64 `json:"learned_rouge_lsum"`
	LearnedGeneric *float64 `json:"learned_generic_rouge_lsum"`
}

func figuresOf(g *eval.Group) evalFigures {
	own, base := &g.Own, &g.Baseline
	text := func(m *eval.Metrics) *float64 {
		if m.Strings.Found+m.Strings.Missed == 0 {
			return nil
		}
		v := m.Strings.F1()
		return rounded(&v)
	}
	return evalFigures{
		F1: round4(own.Body.F1()), BaselineF1: round4(base.Body.F1()), WordF1: rounded(own.Words.Value()),
		BaselineWordF1: rounded(base.Words.Value()),
		Rouge:          rounded(own.Rouge.Value()), BaselineRouge: rounded(base.Rouge.Value()), Strings: text(own),
		BaseStrings: text(base),
		Title:       rounded(own.Title.Value()), Author: rounded(own.Author.Value()), Date: rounded(own.Date.Value()),
		Section: rounded(own.Section.Value()), Image: rounded(own.Image.Value()),
		BaselineTitle: rounded(base.Title.Value()), BaselineAuthor: rounded(base.Author.Value()),
		BaselineDate: rounded(base.Date.Value()),
		Minute:       rounded(own.Minute.Value()), Empty: own.Empty, BaselineEmpty: base.Empty,
		Learned: rounded(g.Learned.Rouge.Value()), LearnedGeneric: rounded(g.LearnedGeneric.Rouge.Value()),
	}
}

func round4(f float64) float64 { return math.Round(f*1e4) / 1e4 }

func rounded(v *float64) *float64 {
	if v != nil {
		*v = round4(*v)
	}
	return v
}

// printJSON prints a result as JSON.
func (p *Program) printJSON(r *eval.Result) error {
	type group struct {
		Half  score.Half `json:"half"`
		Type  string     `json:"type,omitempty"`
		Pages int        `json:"pages"`
		evalFigures
	}
	var groups []group
	for i := range r.Groups {
		if g := &r.Groups[i]; g.Half != "" {
			groups = append(groups, group{g.Half, g.Type, g.Own.Pages, figuresOf(g)})
		}
	}
	all := r.All()
	return json.NewEncoder(p.Stdout).Encode(struct {
		Set   string `json:"set"`
		Pages int    `json:"pages"`
		evalFigures
		PagesPerS         float64 `json:"pages_per_s"`
		BaselinePagesPerS float64 `json:"baseline_pages_per_s"`
		Groups            []group `json:"groups"`
	}{r.Dataset, all.Own.Pages, figuresOf(all), round4(all.Own.PerSecond()), round4(all.Baseline.PerSecond()), groups})
}
