package eval_test

import (
	"strings"
	"testing"
	"time"

	"dateline/internal/news/story"
	"dateline/internal/news/story/eval"
	"dateline/internal/news/story/storytest"
)

// TestEvaluate_GroupsGeneratedNews measures the goal of B-cubed F1 on generated news, of
// which the held-out half has kinds of events on which no setting was chosen.
func TestEvaluate_GroupsGeneratedNews(t *testing.T) {
	t.Parallel()
	const goal = .90
	for _, language := range []string{"en", "vi"} {
		set := eval.Set{
			Name: language, Articles: storytest.Generate(storytest.Options{
				Language: language, Seed: 1, Events: 80, Start: time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC),
				Duration: 60 * 24 * time.Hour,
			}),
		}
		for _, r := range eval.Evaluate(set, nil) {
			t.Logf("%s %s: %d articles, %d stories, %d found, precision %.3f, recall %.3f, F1 %.3f", r.Set, r.Half,
				r.Articles, r.Stories, r.Found, r.Precision, r.Recall, r.F1)
			if r.F1 < goal {
				t.Errorf("%s, %s half: got F1 %.3f, want at least %.2f", r.Set, r.Half, r.F1, goal)
			}
		}
	}
}

func TestEvaluate_ComputesBCubed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	body := "Storm Elena cut power to nine thousand homes around Harrowgate, and the railway to Norwick stopped."
	// Both are found as one story: of two articles, one is true.
	set := eval.Set{Articles: []eval.Article{
		{ID: "1", Story: "a", Half: eval.HeldOut, Title: "Storm Elena", Body: body, PublishedAt: at},
		{ID: "2", Story: "b", Half: eval.HeldOut, Title: "Storm Elena", Body: body, PublishedAt: at},
	}}
	got := eval.Evaluate(set, nil)
	if len(got) != 1 || got[0].Precision != .5 || got[0].Recall != 1 || got[0].Found != 1 || got[0].Stories != 2 {
		t.Errorf("got %+v, want precision 0.5, recall 1", got)
	}
	set.Articles[1].Story = "a"
	if got := eval.Evaluate(set, nil); got[0].F1 != 1 {
		t.Errorf("got %+v, want F1 1", got)
	}
}

func TestParse_NamesTheWrongLine(t *testing.T) {
	t.Parallel()
	good := `{"id":"1","story":"a","language":"en","title":"T","body":"B","published_at":"2026-03-02T06:00:00Z"}`
	for name, c := range map[string]struct{ line, want string }{
		"no story": {`{"id":"2"}`, "line 2: id, story and published_at are required"},
		"same id":  {good, "line 2: the id 1 is already in use"},
		"half": {
			strings.Replace(good, `"id":"1"`, `"id":"2","half":"x"`, 1),
			"line 2: half must be inspect or held-out",
		},
	} {
		if _, err := eval.Parse([]byte(good + "\n" + c.line)); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	all, err := eval.Parse([]byte(good + "\n\n"))
	if err != nil || len(all) != 1 || all[0].Half == "" || story.DefaultThreshold == 0 {
		t.Errorf("got %+v, %v", all, err)
	}
}
