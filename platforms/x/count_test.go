package x_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/x"
)

// published are cases of twitter-text's own conformance suite, in texts of ours.
//
//go:embed testdata/twitter-text.json
var published []byte

// mixed are texts of ours, weighed by hand: links 23, emoji two, and the rest
// character by character.
//
//go:embed testdata/mixed.json
var mixed []byte

type conformance struct {
	Weights []struct {
		Rule   string            `json:"rule"`
		Parts  []json.RawMessage `json:"parts"`
		Weight int               `json:"weight"`
		Valid  bool              `json:"valid"`
	} `json:"weights"`
	Links []struct {
		Rule  string   `json:"rule"`
		Text  string   `json:"text"`
		Links []string `json:"links"`
	} `json:"links"`
	Cashtags []struct {
		Rule     string `json:"rule"`
		Text     string `json:"text"`
		Cashtags int    `json:"cashtags"`
	} `json:"cashtags"`
}

// join puts the parts of a text together: words, or one repeated.
func join(t *testing.T, parts []json.RawMessage) string {
	t.Helper()
	var text strings.Builder
	for _, part := range parts {
		var words string
		var repeat struct {
			Repeat string `json:"repeat"`
			Times  int    `json:"times"`
		}
		if json.Unmarshal(part, &words) == nil {
			text.WriteString(words)
		} else if err := json.Unmarshal(part, &repeat); err == nil {
			text.WriteString(strings.Repeat(repeat.Repeat, repeat.Times))
		} else {
			t.Fatal(err)
		}
	}
	return text.String()
}

func adapter(t *testing.T) (*x.X, network.Limits) {
	t.Helper()
	n := x.New(http.DefaultClient, x.Options{})
	limits, err := n.Limits(t.Context(), network.Account{})
	if err != nil {
		t.Fatal(err)
	}
	return n, limits
}

func TestPublishedCases(t *testing.T) {
	n, limits := adapter(t)
	var cases conformance
	if err := json.Unmarshal(published, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases.Weights) < 27 || len(cases.Links) < 97 || len(cases.Cashtags) < 8 {
		t.Fatal("cases are missing")
	}
	for _, row := range cases.Weights {
		t.Run(row.Rule, func(t *testing.T) {
			text := join(t, row.Parts)
			if got := n.Count(text, limits); got != row.Weight {
				t.Errorf("%q weighs %d, want %d", text, got, row.Weight)
			}
			if problems := n.Check(network.Content{Text: text}, limits); len(problems) == 0 != row.Valid {
				t.Errorf("problems %+v, want valid %v", problems, row.Valid)
			}
		})
	}
	for _, row := range cases.Links {
		t.Run(row.Rule, func(t *testing.T) {
			var got []string
			for _, span := range n.Preview(network.Content{Text: row.Text}, limits).Spans {
				if span.Kind == network.SpanLink {
					got = append(got, span.Target)
				}
			}
			if len(got) != len(row.Links) {
				t.Fatalf("links %q in %q, want %q", got, row.Text, row.Links)
			}
			for i, want := range row.Links {
				if got[i] != want && got[i] != "http://"+want {
					t.Errorf("links %q in %q, want %q", got, row.Text, row.Links)
				}
			}
		})
	}
	for _, row := range cases.Cashtags {
		t.Run(row.Rule, func(t *testing.T) {
			// Two more, so that there is something to complain of.
			problems := n.Check(network.Content{Text: "$A $B " + row.Text}, limits)
			want := fmt.Sprintf("The text has %d cashtags such as $NYSE; X allows 1.", row.Cashtags+2)
			if len(problems) != 1 || problems[0].Code != "too_many_cashtags" || problems[0].Message != want {
				t.Errorf("problems %+v, want %s", problems, want)
			}
		})
	}
}

func counts() []platformtest.Count {
	var rows []struct {
		Name   string `json:"name"`
		Text   string `json:"text"`
		Weight int    `json:"weight"`
	}
	if err := json.Unmarshal(mixed, &rows); err != nil || len(rows) < 100 {
		return []platformtest.Count{{Name: "testdata/mixed.json is not whole", Want: -1}}
	}
	all := []platformtest.Count{{Name: "nothing", Text: "", Want: 0}, {Name: "not UTF-8", Text: "a\xffb", Want: 4}}
	for _, row := range rows {
		all = append(all, platformtest.Count{Name: row.Name, Text: row.Text, Want: row.Weight})
	}
	return all
}

// FuzzText: any text can be weighed, checked, shown and billed; what is shown
// has its spans in order and within the text.
func FuzzText(f *testing.F) {
	for _, row := range counts() {
		f.Add(row.Text)
	}
	f.Add("https://a.vn/((((((((@\xff\xfe@@a@xn--.$A.b $c@d＠e#đ1")
	n := x.New(http.DefaultClient, x.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		limits, err := n.Limits(t.Context(), network.Account{})
		if err != nil {
			t.Fatal(err)
		}
		content := network.Content{Text: text}
		if got := n.Count(text, limits); got < 0 || text == "" && got != 0 {
			t.Errorf("Count(%q) = %d", text, got)
		}
		n.Check(content, limits)
		if n.Price(content).MicroUSD <= 0 {
			t.Error("a post for nothing")
		}
		preview, at := n.Preview(content, limits), 0
		for _, span := range preview.Spans {
			if span.Start < at || span.End <= span.Start || span.End > len(preview.Text) {
				t.Fatalf("span %+v of %q after %d", span, preview.Text, at)
			}
			at = span.End
		}
		if preview.FoldAt > len(preview.Text) {
			t.Errorf("folded at %d of %d", preview.FoldAt, len(preview.Text))
		}
	})
}
