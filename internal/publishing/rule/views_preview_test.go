package rule_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/rule"
)

func TestPreview_OfViewsEqualsTheLaterRun(t *testing.T) {
	for name, change := range map[string]func(*rule.Rule){
		"evergreen": func(r *rule.Rule) {
			r.Trigger.Evergreen = &rule.Evergreen{MinViews: 60, Days: 1, MinAgeDays: 30, RepeatDays: 1}
			r.Variants = map[string][]string{rule.DefaultTemplate: {"Again: {title} {url}"}}
		},
		"trending": func(r *rule.Rule) {
			r.Trigger.Trending, r.Conditions.MaxAgeHours = &rule.Trending{MinViews: 30, Hours: 3}, 168
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, w := newViewsRig(t)
			definition := func(r *rule.Rule) {
				draftsNow(r)
				change(r)
				r.Trigger.Sections, r.MaxPerHour, r.MaxPerDay = []string{"Sports", "World"}, 1, 4
			}
			rng := rand.New(rand.NewPCG(7, 8))
			to := time.Now().UTC().Truncate(time.Hour)
			from := to.AddDate(0, 0, -2)
			story := uuid.New()
			for i := range 12 {
				age := 40 * 24 * time.Hour
				if name == "trending" {
					age = time.Duration(52+rng.IntN(20)) * time.Hour
				}
				id := d.old(w, age, func(a *draft) {
					a.Title, a.Section = fmt.Sprintf("Article %d", i), []string{
						"Sports", "World",
						"Business",
					}[rng.IntN(3)]
					if i < 3 {
						a.Group = story
					}
				})
				for hour := from.AddDate(0, 0, -2); hour.Before(to); hour = hour.Add(time.Hour) {
					if rng.IntN(5) == 0 {
						d.read(w, id, hour, rng.IntN(40))
					}
				}
			}
			r := d.rule(definition)
			preview, err := d.engine.Preview(t.Context(), r, from, to)
			d.Must(err)
			for hour := from; hour.Before(to); hour = hour.Add(time.Hour) {
				d.evaluate(hour.Add(time.Hour - time.Millisecond))
			}
			want := map[string]int{}
			for _, x := range preview.Decisions {
				text := ""
				if len(x.Texts) > 0 {
					text = x.Texts[0].Text
				}
				want[fmt.Sprint(x.Title, x.Round, x.Reason, x.Params["views"], x.DecidedAt.UTC(), text)]++
			}
			got := map[string]int{}
			for _, x := range d.decisions(r) {
				text := ""
				if x.PostID != nil {
					p, err := d.Scheduler.Post(t.Context(), d.Workspace.ID, *x.PostID)
					d.Must(err)
					text = p.Content
				}
				got[fmt.Sprint(x.Title, x.Round, x.Reason, x.Params["views"], x.DecidedAt.UTC(), text)]++
			}
			for key := range got {
				if want[key] != got[key] {
					t.Errorf("the run decided %q, the preview did not", key)
				}
			}
			for key := range want {
				if got[key] == 0 {
					t.Errorf("the preview decided %q, the run did not", key)
				}
			}
			if preview.Counts[rule.Matched] < 4 || preview.Counts[rule.NotSelected] == 0 {
				t.Errorf("got the counts %v, want several posts and articles that are not selected", preview.Counts)
			}
		})
	}
}
