package selector_test

import (
	"math"
	"testing"

	"dateline/internal/news/article"
	"dateline/internal/news/article/selector"
)

// configOf is a version that selects the title, the body and all fields with a
// score from its validation.
func configOf(version int, scores map[article.Field]float64) selector.Config {
	v := selector.Variant{
		Name: "story", Body: []string{"//article"},
		Fields: map[article.Field][]string{article.FieldTitle: {"//h1"}}, Scores: scores,
	}
	for f := range scores {
		v.Fields[f] = []string{"//h1"}
	}
	return selector.Config{Version: version, Variants: []selector.Variant{v}}
}

// readPages returns the monitor after some pages, oldest first: b has the body only, t
// the title only, + both, - neither.
func readPages(m selector.Monitor, pages string) selector.Monitor {
	for _, p := range pages {
		found := map[article.Field]bool{
			article.FieldBody: p == 'b' || p == '+', article.FieldTitle: p == 't' || p == '+',
		}
		m = m.Record(selector.Outcome{Found: found})
	}
	return m
}

func TestMonitor_LearnsWhenPagesLackAField(t *testing.T) {
	first := selector.Monitor{}.Activate(configOf(1, map[article.Field]float64{article.FieldLead: 0}))
	for name, row := range map[string]struct {
		from  selector.Monitor
		pages string
		want  selector.Action
		field article.Field
	}{
		"NewSite_TooFewPages": {selector.Monitor{}, "----", selector.ActionNone, ""},
		"NewSite_EnoughPages": {selector.Monitor{}, "-----", selector.ActionLearn, ""},
		"NewSite_LeftAloneAfterAFailure": {
			readPages(selector.Monitor{}, "-----").LearnFailed(), "-------------------------------------------------",
			selector.ActionNone, "",
		},
		"NewSite_TriedAgainMuchLater": {
			readPages(selector.Monitor{}, "-----").LearnFailed(), "--------------------------------------------------",
			selector.ActionLearn, "",
		},
		"NoBody_FourPages": {first, "tttt", selector.ActionNone, ""},
		"NoBody_FivePages": {first, "ttttt", selector.ActionLearn, article.FieldBody},
		"Body_SixOfTen":    {first, "+t+t+t+t++", selector.ActionNone, ""},
		"Body_FiveOfTen":   {first, "+t+t+t+t+t", selector.ActionLearn, article.FieldBody},
		"Body_FourOfNine":  {first, "t+t+t+t+t", selector.ActionNone, ""},
		"Body_FiveOfTheLastTenOfMany": {
			first, "+++++++++++++++++++++t+t+t+t+t", selector.ActionLearn, article.FieldBody,
		},
		"Title_FourOfTen":  {first, "+b+b+b+bbb", selector.ActionNone, ""},
		"Title_ThreeOfTen": {first, "+b+b+bbbbb", selector.ActionLearn, article.FieldTitle},
		"AfterAFailure_NinePages": {
			readPages(first, "ttttt").LearnFailed(), "ttttttttt", selector.ActionNone,
			"",
		},
		"AfterAFailure_TenPages": {
			readPages(first, "ttttt").LearnFailed(), "tttttttttt", selector.ActionLearn, article.FieldBody,
		},
		"BodyAgainInOneOfTheLastFivePages": {first, "tttt+", selector.ActionNone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := readPages(row.from, row.pages).Decide()
			if got.Action != row.want || got.Field != row.field {
				t.Errorf("got %s %q (%s), want %s %q", got.Action, got.Field, got.Reason.Text, row.want, row.field)
			}
		})
	}
}

// A new version is rolled back while it is new if it finds clearly less than the
// version before.
func TestMonitor_RollsBackAWorseVersion(t *testing.T) {
	for name, row := range map[string]struct {
		before, after string // pages with version 1, then with version 2
		want          selector.Action
		field         article.Field
	}{
		"AsGood":                   {"++++++++++", "++++++++++", selector.ActionNone, ""},
		"SlightlyWorse":            {"++++++++++", "+++++++++t", selector.ActionNone, ""},
		"Worse":                    {"++++++++++", "++++++++tt", selector.ActionRollBack, article.FieldBody},
		"WorseTitle":               {"++++++++++", "++++++++bb", selector.ActionRollBack, article.FieldTitle},
		"TooEarlyToSay":            {"++++++++++", "tttt", selector.ActionNone, ""},
		"Early":                    {"++++++++++", "ttttt", selector.ActionRollBack, article.FieldBody},
		"WorseOnItsTwentiethPage":  {"++++++++++", "++++++++++++++++++tt", selector.ActionRollBack, article.FieldBody},
		"WorseAfterTwentyPages":    {"++++++++++", "+++++++++++++++++++tt", selector.ActionNone, ""},
		"TheOneBeforeWasAsBad":     {"++t+t+t+++", "+++t+t+t++", selector.ActionNone, ""},
		"TheOneBeforeReadNoPage":   {"", "++++++++tt", selector.ActionNone, ""},
		"TheOneBeforeWasJudgedToo": {"+", "++++++++tt", selector.ActionRollBack, article.FieldBody},
	} {
		t.Run(name, func(t *testing.T) {
			m := readPages(selector.Monitor{}.Activate(configOf(1, nil)), row.before)
			got := readPages(m.Activate(configOf(2, nil)), row.after).Decide()
			if got.Action != row.want || got.Field != row.field {
				t.Errorf("got %s %q (%s), want %s %q", got.Action, got.Field, got.Reason.Text, row.want, row.field)
			}
		})
	}
	t.Run("NotBackAndForth", func(t *testing.T) {
		m := readPages(selector.Monitor{}.Activate(configOf(1, nil)), "++++++++++").Activate(configOf(2, nil)).
			RollBack(configOf(1, nil))
		if got := readPages(m, "++++++++tt").Decide(); got.Action != selector.ActionNone {
			t.Errorf("the version rolled back to: got %s (%s), want keep", got.Action, got.Reason.Text)
		}
	})
}

// A field that validation found on half of the pages is healthy when half of the pages
// have it.
func TestMonitor_HealthIsRelativeToValidation(t *testing.T) {
	m := selector.Monitor{}.Activate(configOf(1, map[article.Field]float64{
		article.FieldTitle: 0.5, article.FieldLead: 0,
	}))
	if got := m.Health(); len(got) != 0 {
		t.Errorf("health before any page: got %v, want none", got)
	}
	got := readPages(m, "+bb+bbbbbb").Health()
	for field, want := range map[article.Field]float64{article.FieldBody: 1, article.FieldTitle: 0.4} {
		if math.Abs(got[field]-want) > 1e-9 {
			t.Errorf("health of the %s: got %v, want %v", field, got[field], want)
		}
	}
	if lead, ok := got[article.FieldLead]; ok {
		t.Errorf("health of a field that validation never found: got %v, want none", lead)
	}
	// Without scores, for example with manually written selectors, every page should
	// have it.
	if got := readPages(selector.Monitor{}.Activate(configOf(1, nil)), "+b").Health(); got[article.FieldTitle] != 0.5 {
		t.Errorf("health without scores: got %v, want 0.5", got[article.FieldTitle])
	}
}
