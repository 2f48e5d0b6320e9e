package x_test

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"testing"

	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/x"
)

// mixed contains Dateline's own texts with manually calculated weights: links
// 23, emoji two, and everything else by character.
//
//go:embed testdata/mixed.json
var mixed []byte

func counts() []platformtest.Count {
	var rows []struct {
		Name   string `json:"name"`
		Text   string `json:"text"`
		Weight int    `json:"weight"`
	}
	if err := json.Unmarshal(mixed, &rows); err != nil || len(rows) < 100 {
		return []platformtest.Count{{Name: "testdata/mixed.json is incomplete", Want: -1}}
	}
	all := []platformtest.Count{{Name: "nothing", Text: "", Want: 0}, {Name: "not UTF-8", Text: "a\xffb", Want: 4}}
	for _, row := range rows {
		all = append(all, platformtest.Count{Name: row.Name, Text: row.Text, Want: row.Weight})
	}
	return all
}

// Any text can be counted, checked, previewed and priced, and the spans of its
// preview are in order and inside the text.
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
			t.Error("a post without a price")
		}
		preview, at := n.Preview(content, limits), 0
		for _, span := range preview.Spans {
			if span.Start < at || span.End <= span.Start || span.End > len(preview.Text) {
				t.Fatalf("span %+v of %q after %d", span, preview.Text, at)
			}
			at = span.End
		}
		if preview.FoldAt > len(preview.Text) {
			t.Errorf("truncated at %d of %d", preview.FoldAt, len(preview.Text))
		}
	})
}
