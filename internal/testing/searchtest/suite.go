// Package searchtest is the conformance suite for search engines, with a set of
// invented articles and judged queries.
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

// Rig is an engine under test.
type Rig struct {
	// Open returns an engine without articles. embedder may be nil.
	Open func(t *testing.T, embedder search.Embedder) search.Engine
	// NDCG, Recall and First are the minimum average scores of its rankings.
	NDCG, Recall, First float64
	// Corrects reports that the engine tolerates two typos in a long word and one in a
	// short word.
	Corrects bool
}

// articleCount is the number of articles of the relevance set.
const articleCount = 115

// Run runs the suite.
func Run(t *testing.T, rig Rig) {
	for name, test := range map[string]func(*testing.T, Rig){
		"Relevance": relevance, "Operators": operators, "Diacritics": diacritics, "Typos": typos, "Filters": filters,
		"Facets":    facets,
		"TimeOrder": timeOrder, "Pages": pages, "Highlights": highlights, "Versions": versions, "Deletion": deletion,
		"Hostile": hostile,
		"Rebuild": rebuild, "Meaning": meaning, "Questions": questions, "Prefixes": prefixes,
	} {
		t.Run(name, func(t *testing.T) { test(t, rig) })
	}
}

// IndexArticles indexes the relevance set among noise.
func IndexArticles(t testing.TB, e search.Engine, noise int) {
	t.Helper()
	all, err := Articles()
	must(t, err)
	extra, err := Noise(noise)
	must(t, err)
	for _, d := range all {
		extra = append(extra, d)
	}
	for batch := range slices.Chunk(extra, 100) {
		must(t, e.Index(t.Context(), batch))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// find searches and returns the keys of the results in order.
func find(t testing.TB, e search.Engine, r search.Request) (keys []string, a search.Response) {
	t.Helper()
	r.Now = Now()
	a, err := e.Search(t.Context(), r)
	if err != nil {
		t.Fatalf("%q: %v", r.Text, err)
	}
	for _, h := range a.Hits {
		keys = append(keys, h.URL[strings.LastIndex(h.URL, "/")+1:])
	}
	return keys, a
}

func wantFirst(t *testing.T, e search.Engine, text string, want ...string) {
	t.Helper()
	if got, _ := find(t, e, search.Request{Text: text}); len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("%q: got %v, want %v first", text, got, want)
	}
}

// Scores are the average scores of a ranking.
type Scores struct {
	Queries             int
	NDCG, Recall, First float64
}

func (s Scores) String() string {
	return fmt.Sprintf("%d queries: nDCG@10 %.3f, recall@10 %.3f, right first %.3f", s.Queries, s.NDCG, s.Recall,
		s.First)
}

// Parts of the judged queries.
const (
	AllQueries       = "all"
	Keywords         = "keywords"
	Questions        = "questions"
	HeldOutKeywords  = "held-out keywords"
	HeldOutQuestions = "held-out questions"
)

// Parts returns the parts of the judged queries, in the order of tables.
func Parts() []string {
	return []string{AllQueries, Keywords, Questions, HeldOutKeywords, HeldOutQuestions}
}

// Score measures a ranking of the judged queries by part. worst lists the queries with
// low scores, without held-out ones.
func Score(t testing.TB, rank func(query string) []uuid.UUID) (parts map[string]Scores, worst []string) {
	t.Helper()
	all, err := Queries()
	must(t, err)
	parts = map[string]Scores{}
	for _, j := range all {
		got := rank(j.Query)
		n := NDCG(got, j.Grades)
		for _, part := range []string{AllQueries, j.part()} {
			s := parts[part]
			parts[part] = Scores{
				s.Queries + 1, s.NDCG + n, s.Recall + Recall(got, j.Grades),
				s.First + First(got, j.Grades),
			}
		}
		if n < 0.7 && !j.HeldOut {
			worst = append(worst, fmt.Sprintf("%.2f %s", n, j.Query))
		}
	}
	for part, s := range parts {
		k := float64(s.Queries)
		parts[part] = Scores{s.Queries, s.NDCG / k, s.Recall / k, s.First / k}
	}
	slices.Sort(worst)
	return parts, worst
}

func (j Judged) part() string {
	switch {
	case j.HeldOut && j.Question:
		return HeldOutQuestions
	case j.HeldOut:
		return HeldOutKeywords
	case j.Question:
		return Questions
	}
	return Keywords
}

// Ranking returns a function for Score.
func Ranking(t testing.TB, e search.Engine, r search.Request) func(string) []uuid.UUID {
	return func(query string) []uuid.UUID {
		r.Text, r.Limit = query, depth
		_, a := find(t, e, r)
		ids := make([]uuid.UUID, len(a.Hits))
		for i, h := range a.Hits {
			ids[i] = h.ID
		}
		return ids
	}
}

// questionMargin is how much lower the scores of questions may be: they often use other
// words than the article.
const questionMargin = 0.03

// Relevant articles rank first, in both languages, for keywords and questions, with and
// without diacritics, among three times as many other articles with the same words.
// Sorting by time must miss the thresholds, which shows that they are significant.
func relevance(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 320)
	parts, worst := Score(t, Ranking(t, e, search.Request{}))
	for _, part := range Parts() {
		s := parts[part]
		t.Logf("%-20s %s", part, s)
		margin := 0.0
		if part == Questions || part == HeldOutQuestions {
			margin = questionMargin
		}
		if s.NDCG < rig.NDCG-margin || s.Recall < rig.Recall-margin || s.First < rig.First-margin {
			t.Errorf("%s: want at least nDCG %.3f, recall %.3f, first %.3f", part, rig.NDCG-margin, rig.Recall-margin,
				rig.First-margin)
		}
	}
	t.Logf("worst: %s", strings.Join(worst, "; "))
	byTime, _ := Score(t, Ranking(t, e, search.Request{Sort: search.ByTime}))
	t.Logf("in the order of time: %s", byTime[AllQueries])
	if byTime[AllQueries].NDCG >= rig.NDCG || byTime[AllQueries].First >= rig.First {
		t.Error("sorting by time reaches the thresholds: they are not significant")
	}
}

func operators(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 0)
	for text, want := range map[string][]string{
		`"fish and chips"`:       {"fishchips"},
		`"chips and fish"`:       nil,
		`"interest rates steady`: {"fed"}, // an unclosed quote
		`semicond*`:              {"chip"},
		`apple -iphone`:          {"orchard"},
		`apple -"apple harvest"`: {"apple"},
		`-apple`:                 nil, // see below
		`covid-19 bệnh`:          {"covid"},
	} {
		got, a := find(t, e, search.Request{Text: text})
		if text == "-apple" {
			if a.Total != articleCount-2 {
				t.Errorf("%q: got %d articles", text, a.Total)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{
		"", "   ", "***", `"`, "-", `'); drop table articles; --`, "a & b | !c <-> (d", `\`,
		"\x00", "\xff\xfe", strings.Repeat("x ", 2000), "😀",
	} {
		if _, err := e.Search(t.Context(), search.Request{Text: text, Facets: true, Mode: search.Hybrid}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, a := find(t, e, search.Request{}); a.Total != articleCount {
		t.Errorf("without words: got %d articles", a.Total)
	}
}

// Queries without diacritics match all variants. With diacritics, exact matches come
// first.
func diacritics(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 0)
	for text, want := range map[string]string{
		"má": "ma", "mã": "mado", "bò": "bo", "báo": "baochi", "bão": "bao",
		"phở": "pho", "bóng rổ": "bongro",
	} {
		wantFirst(t, e, text, want)
	}
	for _, text := range []string{"ma", "phở", "pho"} {
		got, _ := find(t, e, search.Request{Text: text, Limit: 50})
		for _, want := range map[string][]string{
			"ma": {"ma", "mado", "nhama"}, "phở": {"pho", "phoco"},
			"pho": {"pho", "phoco"},
		}[text] {
			if !slices.Contains(got, want) {
				t.Errorf("%q: got %v, want %s in it", text, got, want)
			}
		}
	}
	wantFirst(t, e, "duong cao toc", "duong")
	wantFirst(t, e, "DIEM CHUAN SU PHAM", "dihoc")
	// Two spellings of a tone, and of a character.
	must(t, e.Index(t.Context(), []search.Document{
		{
			ID: ID("hoa"), Version: 1, Title: "Hoà bình ở Thuỷ Nguyên", URL: "https://x.example/hoa",
			Domain:    "x.example",
			Published: Now(),
		},
	}))
	wantFirst(t, e, "Hòa bình Thủy Nguyên", "hoa")
	wantFirst(t, e, "Ho\u0300a bi\u0300nh Thu\u0309y Nguye\u0302n", "hoa")
	spellings(t, e)
}

// Open syllables have two official spellings, with i and with y. The typed one ranks first.
func spellings(t *testing.T, e search.Engine) {
	t.Helper()
	titles := map[string]string{
		"ky": "Quần vợt: kỹ thuật giao bóng", "ki": "Quần vợt: kĩ thuật giao bóng",
		"ly": "Lý thuyết dây", "si": "Bác sĩ trực đêm", "ty": "Công ty gạch ngói",
		"quy": "Quý khách lên tàu", "dn": "Ðà Nẵng bắn pháo hoa", "tay": "Bàn tay trái", "thuy": "Cô Thúy kể chuyện",
		"nfd": "Cho\u031b\u0323 nô\u0309i ho\u0323p sơ\u0301m", // partly decomposed, as old articles may be stored
	}
	for id, title := range titles {
		must(t, e.Index(t.Context(), []search.Document{
			{
				ID: ID("spelling-" + id), Version: 1, Title: title, URL: "https://x.example/spelling-" + id,
				Domain: "x.example", Published: Now(),
			},
		}))
	}
	for text, want := range map[string]string{
		"kĩ thuật giao bóng": "ki", "kỹ thuật giao bóng": "ky",
		"lí thuyết dây": "ly", "ly thuyet day": "ly", "li thuyet day": "ly",
		"bác sỹ trực đêm": "si", "công ti gạch ngói": "ty", "cong ti gach ngoi": "ty", "quí khách lên tàu": "quy",
		"Đà Nẵng bắn pháo": "dn", "chợ nổi họp sớm": "nfd", `"chợ nổi"`: "nfd",
	} {
		wantFirst(t, e, text, "spelling-"+want)
	}
	for text, other := range map[string]string{"bàn tai trái": "tay", "cô thúi kể chuyện": "thuy"} {
		if got, _ := find(t, e, search.Request{Text: `"` + text + `"`, Limit: 50}); slices.Contains(got,
			"spelling-"+other) {
			t.Errorf("%q: got %v, want not %s", text, got, other)
		}
	}
	for _, text := range []string{"kĩ thuật giao bóng", "ky thuat giao bong"} {
		got, _ := find(t, e, search.Request{Text: text, Limit: 50})
		if !slices.Contains(got, "spelling-ky") || !slices.Contains(got, "spelling-ki") {
			t.Errorf("%q: got %v, want both spellings", text, got)
		}
	}
}

func typos(t *testing.T, rig Rig) {
	if !rig.Corrects {
		t.Fatal("an engine forgives typos")
	}
	e := rig.Open(t, nil)
	IndexArticles(t, e, 0)
	wantFirst(t, e, "eathquake", "quake")          // a letter is missing
	wantFirst(t, e, "semicondutcors", "chip")      // two letters are swapped
	wantFirst(t, e, "ransomwarre surgrey", "hack") // one is doubled; two are swapped
	wantFirst(t, e, "wolrd cup", "wc")
	// Quoted words are matched exactly.
	if got, _ := find(t, e, search.Request{Text: `"eathquake"`}); len(got) != 0 {
		t.Errorf("a quoted typo found %v", got)
	}
	// Numbers are not corrected.
	if got, _ := find(t, e, search.Request{Text: `"20001"`}); len(got) != 0 {
		t.Errorf("another number found %v", got)
	}
}

func filters(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 0)
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		f    search.Filters
		want int
	}{
		"domain":         {search.Filters{Domains: []string{"thethao.example"}}, 5},
		"two domains":    {search.Filters{Domains: []string{"thethao.example", "stadium.example"}}, 9},
		"within":         {search.Filters{VisibleDomains: []string{"stadium.example"}}, 4},
		"within nothing": {search.Filters{VisibleDomains: []string{}}, 0},
		"outside": {
			search.Filters{VisibleDomains: []string{"stadium.example"}, Domains: []string{"thethao.example"}}, 0,
		},
		"language": {search.Filters{Languages: []string{"en"}}, 47},
		"section":  {search.Filters{Sections: []string{"Kinh tế"}}, 6},
		"tag":      {search.Filters{Tags: []string{"bóng đá"}}, 2},
		"author":   {search.Filters{Authors: []string{"Jae Park"}}, 6},
		"from":     {search.Filters{From: Now().Add(-day)}, 5},
		"a day":    {search.Filters{From: Now().Add(-2 * day), To: Now().Add(-day)}, 7},
		"all": {
			search.Filters{
				Languages: []string{"vi"}, Sections: []string{"Thể thao"}, Authors: []string{"Đặng Văn Sơn"},
				From: Now().Add(-9 * day),
			}, 3,
		},
	} {
		if _, a := find(t, e, search.Request{Filters: c.f, Limit: 100}); a.Total != c.want || len(a.Hits) != c.want {
			t.Errorf("%s: %d articles, %d hits, want %d", name, a.Total, len(a.Hits), c.want)
		}
	}
	if got, _ := find(t, e, search.Request{
		Text:    "world cup",
		Filters: search.Filters{Domains: []string{"circuit.example"}},
	}); len(got) != 0 {
		t.Errorf("got %v in another workspace", got)
	}
}

func facets(t *testing.T, rig Rig) {
	e := rig.Open(t, nil)
	IndexArticles(t, e, 0)
	_, a := find(t, e, search.Request{Facets: true, Filters: search.Filters{Sections: []string{"Thể thao", "Sport"}}})
	got := map[string]int{}
	for _, f := range a.Facets {
		for _, v := range f.Values {
			got[f.Field+" "+v.Value] = v.Count
		}
	}
	for value, want := range map[string]int{
		"domain thethao.example": 5, "domain stadium.example": 4, "language vi": 5,
		"language en": 4, "section Thể thao": 5,
		"tag bóng đá": 2, "tag football": 2, "author Leo Marsh": 4, "author Đặng Văn Sơn": 4,
		"domain ledger.example": 0,
	} {
		if got[value] != want {
			t.Errorf("%s: %d, want %d", value, got[value], want)
		}
	}
	if _, a := find(t, e, search.Request{Text: "vaccine"}); a.Facets != nil {
		t.Error("got facets, want none")
	}
}
