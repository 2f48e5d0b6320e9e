package searchtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/search"
)

func timeOrder(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 40)
	_, a := find(t, e, search.Request{Text: "hà nội", Sort: search.ByTime, Limit: 50})
	if len(a.Hits) < 5 || !slices.IsSortedFunc(a.Hits,
		func(x, y search.Hit) int { return y.Published.Compare(x.Published) }) {
		t.Errorf("%d hits, not the newest first", len(a.Hits))
	}
	for _, h := range a.Hits {
		if text := strings.ToLower(h.Title + h.Lead + h.Body); !strings.Contains(text, "hà") ||
			!strings.Contains(text, "nội") {
			t.Errorf("%s lacks words of the query", h.Title)
		}
	}
}

// Pages are consistent: no article appears twice or is missing.
func pages(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 60)
	for _, sort := range []search.Sort{search.ByRelevance, search.ByTime} {
		seen := map[uuid.UUID]bool{}
		_, whole := find(t, e, search.Request{Text: "việt nam", Sort: sort, Limit: 100})
		for offset := 0; ; offset += 7 {
			_, a := find(t, e, search.Request{Text: "việt nam", Sort: sort, Offset: offset, Limit: 7})
			for i, h := range a.Hits {
				if seen[h.ID] || h.ID != whole.Hits[offset+i].ID {
					t.Errorf("%s, position %d: got %s, which differs from a single page", sort, offset+i, h.Title)
				}
				seen[h.ID] = true
			}
			if len(a.Hits) < 7 {
				break
			}
		}
		if len(seen) != len(whole.Hits) || len(seen) < 10 {
			t.Errorf("%s: got %d on several pages, %d on one", sort, len(seen), len(whole.Hits))
		}
	}
	if _, a := find(t, e, search.Request{Text: "việt nam", Offset: 1 << 30, Limit: -3}); len(a.Hits) != 0 {
		t.Errorf("far past the end: got %d", len(a.Hits))
	}
}

func text(f []search.Fragment) (all string, marked []string) {
	var whole strings.Builder
	for _, one := range f {
		whole.WriteString(one.Text)
		if one.Match {
			marked = append(marked, one.Text)
		}
	}
	return whole.String(), marked
}

func highlights(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 0)
	_, a := find(t, e, search.Request{Text: "gia vang"})
	title, marked := text(a.Hits[0].Heading)
	if title != a.Hits[0].Title || len(marked) == 0 || !strings.EqualFold(strings.Join(marked[:1], ""), "giá vàng") {
		t.Errorf("%q is highlighted as %q", title, marked)
	}
	_, a = find(t, e, search.Request{Text: "refinancing"})
	if snippet, marked := text(a.Hits[0].Snippet); !strings.Contains(snippet, "Refinancing doubled") ||
		!slices.Equal(marked, []string{"Refinancing"}) {
		t.Errorf("%q is highlighted as %q", snippet, marked)
	}
}

// An older version never replaces a newer one.
func versions(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	d := search.Document{
		ID: ID("v"), Version: 2, Title: "Second wording", URL: "https://x.example/v",
		Domain: "x.example", Published: Now(),
	}
	must(t, e.Index(t.Context(), []search.Document{d}))
	must(t, e.Index(t.Context(), []search.Document{d})) // at least once
	d.Version, d.Title = 1, "First wording"
	must(t, e.Index(t.Context(), []search.Document{d}))
	if got, a := find(t, e, search.Request{Text: "wording"}); len(got) != 1 || a.Hits[0].Title != "Second wording" {
		t.Errorf("%+v", a.Hits)
	}
	d.Version, d.Title = 3, "Third expression"
	must(t, e.Index(t.Context(), []search.Document{d}))
	if got, _ := find(t, e, search.Request{Text: `"second wording"`}); len(got) != 0 {
		t.Errorf("words of the old version find %v", got)
	}
	wantFirst(t, e, "expression", "v")
}

func deletion(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 0)
	must(t, e.Delete(t.Context(), []uuid.UUID{ID("tennis"), ID("not there")}))
	if got, _ := find(t, e, search.Request{Text: "tennis"}); len(got) != 0 {
		t.Errorf("found %v", got)
	}
	if _, a := find(t, e, search.Request{}); a.Total != articleCount-1 {
		t.Errorf("%d articles are left", a.Total)
	}
}

// Content of pages is treated as plain text, whatever it contains and however long it
// is.
func hostile(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	const title = `<script>alert("needle")</script> <em>needle</em> \uE000`
	must(t, e.Index(t.Context(), []search.Document{
		{
			ID: ID("h1"), Version: 1, Title: title, Lead: "a\x00b \xff\xfe \ue000needle\ue001",
			Body: strings.Repeat("needle haystack ", 60_000), Tags: []string{"x' OR 'x", `"]`},
			URL: "https://x.example/h1", Domain: "x.example", Published: Now(),
		},
		{
			ID: ID("h2"), Version: 1, Title: strings.Repeat("long", 5000), Body: strings.Repeat("ă", 100_000),
			URL: "https://x.example/h2", Domain: "x.example", Published: time.Time{},
		},
	}))
	_, a := find(t, e, search.Request{Text: "needle", Facets: true})
	if len(a.Hits) != 1 {
		t.Fatalf("%d hits", len(a.Hits))
	}
	got, marked := text(a.Hits[0].Heading)
	if got != title || !slices.Equal(marked, []string{"needle", "needle"}) {
		t.Errorf("%q is highlighted as %q", got, marked)
	}
	if _, a := find(t, e, search.Request{Filters: search.Filters{Tags: []string{"x' OR 'x"}}}); len(a.Hits) != 1 {
		t.Errorf("the tag: got %d", len(a.Hits))
	}
	if _, a := find(t, e,
		search.Request{Filters: search.Filters{Domains: []string{`' OR 'x' = 'x`, `" OR domain EXISTS`}}}); len(
		a.Hits) != 0 {
		t.Errorf("an invalid domain: got %d", len(a.Hits))
	}
}

// During a rebuild the old index serves searches. Afterwards the new one does, without
// the documents that were only in the old one.
func rebuild(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 0)
	name, err := e.StartRebuild(t.Context())
	must(t, err)
	all, err := Articles()
	must(t, err)
	var some []search.Document
	for _, key := range []string{"wc", "tennis", "space"} {
		some = append(some, all[key])
	}
	must(t, e.AddToRebuild(t.Context(), name, some))
	must(t, e.DeleteFromRebuild(t.Context(), name, []uuid.UUID{ID("space")}))
	wantFirst(t, e, "malaria", "vaccine") // still found
	must(t, e.FinishRebuild(t.Context(), name))
	if _, a := find(t, e, search.Request{}); a.Total != 2 {
		t.Errorf("%d articles are in the new index", a.Total)
	}
	wantFirst(t, e, "world cup", "wc")
	// A rebuild that is discarded changes nothing, and can be discarded twice.
	name, err = e.StartRebuild(t.Context())
	must(t, err)
	for range 2 {
		must(t, e.DiscardRebuild(t.Context(), name))
	}
	wantFirst(t, e, "world cup", "wc")
	// It indexes new articles as before.
	must(t, e.Index(t.Context(), []search.Document{all["vaccine"]}))
	wantFirst(t, e, "malaria", "vaccine")
}

// With an embedder, articles are found that contain none of the words.
func meaning(t *testing.T, rig Rig) {
	e := rig.Open(t, &Embedder{})
	IndexArticles(t, e, 0)
	for _, mode := range []search.Mode{search.Semantic, search.Hybrid} {
		// "Footballer", "kicker" and "soccer" are in no article.
		got, _ := find(t, e, search.Request{
			Text: "which soccer kicker went elsewhere for lots of cash?", Mode: mode, Limit: 5,
		})
		if !slices.Contains(got, "transfer") {
			t.Errorf("%s: got %v", mode, got)
		}
	}
	got, _ := find(t, e, search.Request{Text: "which soccer kicker went elsewhere for lots of cash?", Limit: 5})
	if slices.Contains(got, "transfer") {
		t.Errorf("words alone: got %v, so the query does not test meaning", got)
	}
	got, _ = find(t, e, search.Request{
		Text: "soccer", Mode: search.Semantic, Filters: search.Filters{Domains: []string{"harbour.example"}},
	})
	if slices.Contains(got, "transfer") || len(got) == 0 {
		t.Errorf("with a filter %v", got)
	}
	// Publishers may forbid embeddings: the article is found by its words only.
	forbidden := search.Document{
		ID: ID("forbidden"), Version: 1, Title: "Soccer kicker elsewhere for cash",
		URL: "https://x.example/forbidden", Domain: "x.example", Published: Now(), NoEmbedding: true,
	}
	must(t, e.Index(t.Context(), []search.Document{forbidden}))
	if got, _ := find(t, e, search.Request{Text: "soccer kicker elsewhere", Mode: search.Semantic}); slices.Contains(
		got, "forbidden") {
		t.Errorf("got %v by meaning, want the article without an embedding not among them", got)
	}
	wantFirst(t, e, "soccer kicker", "forbidden")
	// Operators disable semantic search.
	if got, _ := find(t, e, search.Request{Text: `"fish and chips"`, Mode: search.Hybrid}); fmt.Sprint(
		got) != "[fishchips]" {
		t.Errorf("a phrase: got %v", got)
	}
}

// A question is answered although no article contains all of its words, and a name of
// several words does not outweigh the significant word next to it.
func questions(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 320)
	for text, want := range map[string]string{
		"what happens to the brain when people sleep badly at night":              "sleep",
		"why do bees in the city make so much more honey than those on a farm":    "bees",
		"which company is going to build a semiconductor plant in Europe soon":    "chip",
		"vì sao tiền học phí ở các trường đại học công lập lại tăng nhiều thế":    "hocphi",
		"làm thế nào để phát hiện ung thư phổi sớm nhờ phần mềm và máy tính":      "ungthu",
		"metro thành phố hồ chí minh":                                             "metro",
		"metro thanh pho ho chi minh":                                             "metro",
		"khi nào tàu metro ở thành phố hồ chí minh bắt đầu chạy cho người dân đi": "metro",
	} {
		wantFirst(t, e, text, want)
	}
	if got, a := find(t, e, search.Request{Text: "what happens to the brain when people sleep " +
		"badly at night"}); !a.Relaxed || a.Total < len(got) {
		t.Errorf("got relaxed %v and %d in all for %d hits, want relaxed and no fewer", a.Relaxed, a.Total, len(got))
	}
	// Sorted by time, every result contains all words.
	if got, _ := find(t, e, search.Request{
		Text: "what happens to the brain when people sleep badly at night",
		Sort: search.ByTime,
	}); len(got) != 0 {
		t.Errorf("in the order of time: got %v, want none", got)
	}
	// The pages of relaxed results are consistent.
	_, whole := find(t, e, search.Request{Text: "brain people sleep badly night", Limit: 30})
	for offset := 0; offset < len(whole.Hits); offset += 8 {
		_, a := find(t, e, search.Request{Text: "brain people sleep badly night", Offset: offset, Limit: 8})
		for i, h := range a.Hits {
			if offset+i < len(whole.Hits) && h.ID != whole.Hits[offset+i].ID {
				t.Errorf("position %d: got %s, want %s", offset+i, h.Title, whole.Hits[offset+i].Title)
			}
		}
	}
}

// A prefix matches words that start with exactly these letters, anywhere in the query.
func prefixes(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 0)
	for text, want := range map[string][]string{
		"semicond*":                 {"chip"},
		"semicond* europe":          {"chip"},
		"semicond* contin*":         {"chip"},
		"semiconductors -semicond*": nil,
		"semicnod*":                 nil, // typos in a prefix are not corrected
		`"plant in" europ*`:         {"chip"},
		"bees -semicond* hone*":     {"bees"},
	} {
		got, a := find(t, e, search.Request{Text: text})
		if !slices.Equal(got, want) || a.Total != len(want) {
			t.Errorf("%q: got %v of %d, want %v", text, got, a.Total, want)
		}
	}
	whole, _ := find(t, e, search.Request{Text: "co*", Limit: 100})
	if len(whole) < 12 {
		t.Fatalf("got %d articles with a word in co…, want more", len(whole))
	}
	for offset := 0; offset < len(whole); offset += 5 {
		if got, a := find(t, e, search.Request{Text: "co*", Offset: offset, Limit: 5}); !slices.Equal(got,
			whole[offset:min(offset+5, len(whole))]) || a.Total != len(whole) {
			t.Errorf("from %d: got %v of %d, want %v of %d", offset, got, a.Total,
				whole[offset:min(offset+5, len(whole))], len(whole))
		}
	}
}
