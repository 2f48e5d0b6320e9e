package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"dateline/internal/news/story"
	"dateline/internal/news/story/eval"
)

// sweep are the thresholds that --sweep measures.
func sweep() []float64 { return []float64{.15, .18, .21, .24, .27, .30, .33, .36, .40} }

func (p *Program) evalStories() *cobra.Command {
	c := p.plainCommand("stories", "measure how well articles are grouped into stories (B-cubed)")
	set := c.Flags()
	dir := set.String("data", "", "`folder` with one or more datasets (docs/how-to/evaluate-stories.md)")
	threshold := set.Float64("threshold", 0,
		"`similarity` from which an article joins a story; 0: the default of its language")
	compare := set.Bool("sweep", false, "also measure other thresholds, on the inspected half")
	return c.run(func(_ context.Context, _ []string) error {
		if *dir == "" {
			return usageError("--data is required: dateline eval stories --data DIR")
		}
		if *threshold < 0 || *threshold > 1 {
			return usageError("--threshold must be between 0 and 1")
		}
		sets, err := eval.FindSets(*dir)
		if err != nil {
			return err
		}
		var all []eval.Result
		for _, s := range sets {
			all = append(all, eval.Evaluate(s, thresholdOf(s, *threshold))...)
		}
		p.printStories(all)
		if *compare {
			for _, s := range sets {
				for _, t := range sweep() {
					for _, r := range eval.Evaluate(s, thresholdOf(s, t)) {
						if r.Half == eval.Inspect {
							_, _ = fmt.Fprintf(p.Stdout, "%s at threshold %.2f: precision %.4f, recall %.4f, F1 %.4f\n",
								r.Set, t, r.Precision, r.Recall, r.F1)
						}
					}
				}
			}
		}
		for i := range all {
			r := &all[i]
			r.Precision, r.Recall, r.F1, r.MicrosPerArticle = round4(r.Precision), round4(r.Recall), round4(r.F1),
				round4(r.MicrosPerArticle)
		}
		return json.NewEncoder(p.Stdout).Encode(struct {
			Threshold float64       `json:"threshold,omitempty"`
			Inspect   float64       `json:"inspect_f1"`
			HeldOut   float64       `json:"held_out_f1"`
			Results   []eval.Result `json:"results"`
		}{*threshold, round4(eval.Mean(all, eval.Inspect)), round4(eval.Mean(all, eval.HeldOut)), all})
	})
}

// thresholdOf sets the threshold of all languages of a set; 0: the defaults.
func thresholdOf(s eval.Set, threshold float64) story.Thresholds {
	out := story.Thresholds{}
	if threshold == 0 {
		return out
	}
	for _, a := range s.Articles {
		out[a.Language] = threshold
	}
	return out
}

func (p *Program) printStories(all []eval.Result) {
	_, _ = fmt.Fprintf(p.Stdout, "%-20s %-9s %8s %8s %8s  %-9s %-9s %-9s %s\n", "set", "half", "articles", "stories",
		"found", "precision", "recall", "F1", "µs/article")
	for _, r := range all {
		_, _ = fmt.Fprintf(p.Stdout, "%-20s %-9s %8d %8d %8d  %-9.4f %-9.4f %-9.4f %.0f\n", r.Set, r.Half, r.Articles,
			r.Stories, r.Found, r.Precision, r.Recall, r.F1, r.MicrosPerArticle)
	}
}
