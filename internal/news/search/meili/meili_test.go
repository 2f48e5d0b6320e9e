package meili_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/search"
	"dateline/internal/news/search/meili"
	"dateline/internal/news/search/meili/meilitest"
	"dateline/internal/testing/searchtest"
)

// The suite runs on a real Meilisearch if MEILISEARCH_URL is set.
func TestSuite(t *testing.T) {
	url := os.Getenv("MEILISEARCH_URL")
	if url == "" {
		t.Log("MEILISEARCH_URL is not set: the suite did not run on Meilisearch")
		return
	}
	searchtest.Run(t, searchtest.Rig{
		NDCG: 0.95, Recall: 0.96, First: 0.93, Corrects: true,
		Open: func(t *testing.T, embedder search.Embedder) search.Engine {
			e := meili.New(meili.Options{
				URL: url, Key: os.Getenv("MEILISEARCH_KEY"), Index: "test_" + uuid.NewString(),
				Embedder: embedder, PollInterval: 5 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
			})
			if err := e.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			return e
		},
	})
}

func open(t *testing.T, f *meilitest.Server, o meili.Options) *meili.Engine {
	t.Helper()
	o.URL, o.Key, o.PollInterval = f.URL, meilitest.Key, time.Millisecond
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := meili.New(o)
	if err := e.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

func article(version int64) search.Document {
	return search.Document{
		ID: searchtest.ID("a"), Version: version, Title: fmt.Sprintf("Version %d", version),
		Domain: "x.example", Published: searchtest.Now(), Tags: []string{"t"},
	}
}

func TestStaleSettings_ComparesWithThisBuild(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{Embedder: &searchtest.Embedder{}})
	if err := e.Prepare(t.Context()); err != nil { // again, with an existing index
		t.Fatal(err)
	}
	s := f.Settings("articles")
	for _, want := range []string{
		`"embedders":{"default":{"dimensions":64,"source":"userProvided"}}`,
		`"sortableAttributes":["published"]`,
		`"filterableAttributes":["id","domain","language","section","tags","authors","published"]`,
		`"rankingRules":["sort","words"`, `"maxTotalHits":1100`, `"disableOnNumbers":true`,
		`"searchCutoffMs":1000`, `"mỹ":["hoa kỳ","mi"]`, `"ky":["ki"]`, `"qui":["quy"]`, `"hoa kỳ":["mỹ"]`,
	} {
		if !strings.Contains(s, want) {
			t.Errorf("%s is not in the settings %s", want, s)
		}
	}
	own, err := meili.ParseServerEmbedder(`{"source": "huggingFace", "model": "BAAI/bge-m3"}`)
	if err != nil {
		t.Fatal(err)
	}
	open(t, f, meili.Options{ServerEmbedder: own, Index: "own"})
	if s := f.Settings("own"); !strings.Contains(s,
		`"embedders":{"default":{"model":"BAAI/bge-m3","source":"huggingFace"}}`) {
		t.Errorf("the settings are %s", s)
	}
	for _, bad := range []string{"huggingFace", "{}", `{"source": 3}`} {
		if _, err := meili.ParseServerEmbedder(bad); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestIndex_WaitsForTheTask(t *testing.T) {
	f := meilitest.Start(t)
	embedder := &searchtest.Embedder{}
	e := open(t, f, meili.Options{Embedder: embedder})
	if err := e.Index(t.Context(), []search.Document{article(2)}); err != nil {
		t.Fatal(err)
	}
	stored := func() map[string]any { return f.Document("articles", searchtest.ID("a").String()) }
	if d := stored(); d["title"] != "Version 2" || len(d["_vectors"].(map[string]any)["default"].([]any)) != 64 ||
		d["published"] != float64(searchtest.Now().Unix()) {
		t.Errorf("stored %v", d)
	}
	if err := e.Index(t.Context(), []search.Document{article(1)}); err != nil || stored()["title"] != "Version 2" {
		t.Errorf("an older version replaced it: %v, %v", stored()["title"], err)
	}
	embedder.Down.Store(true)
	if err := e.Index(t.Context(), []search.Document{article(3)}); err != nil || stored()["title"] != "Version 3" ||
		stored()["_vectors"].(map[string]any)["default"] != nil {
		t.Errorf("without the embedder: %v, %v", stored(), err)
	}
	if err := e.Delete(t.Context(), []uuid.UUID{searchtest.ID("a")}); err != nil || stored() != nil {
		t.Errorf("deleted: %v, %v", stored(), err)
	}
	f.FailTasks("documentAdditionOrUpdate")
	if err := e.Index(t.Context(), []search.Document{article(4)}); err == nil ||
		strings.Contains(err.Error(), "secret words") {
		t.Errorf("a task that failed: %v", err)
	}
}

func TestSearch_SendsTheExpectedRequest(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{Embedder: &searchtest.Embedder{}})
	for name, c := range map[string]struct {
		r    search.Request
		want string // in the request's JSON
		not  string
	}{
		"operators": {
			search.Request{Text: `"Giá vàng" covid-19 -sjc tăng* the`},
			`"q":"\"Giá vàng\" \"covid 19\" -sjc tăng"`, `"hybrid":{`,
		},
		"a page": {
			search.Request{Text: "gold", Offset: 40, Limit: 10},
			`"limit":10,"matchingStrategy":"all","offset":40`, "",
		},
		"written, so deeper": {search.Request{Text: "vàng", Limit: 10}, `"limit":100`, ""},
		"filters": {
			search.Request{
				Text: "x", Filters: search.Filters{
					VisibleDomains: []string{`a" OR "b`, `c\`}, Tags: []string{"t"},
					From: time.Unix(100, 0), To: time.Unix(200, 0),
				},
			},
			`"filter":["domain IN [\"a\\\" OR \\\"b\", \"c\\\\\"]","tags IN [\"t\"]","published \u003e= 100","published \u003c 200"]`, "",
		},
		"nothing may be seen": {
			search.Request{Text: "x", Filters: search.Filters{VisibleDomains: []string{}}}, `"domain IN []"`, "",
		},
		"by time": {
			search.Request{Text: "gold price", Sort: search.ByTime},
			`"q":"\"gold\" \"price\""`,
			`"hybrid":{`,
		},
		"by time, sorted": {search.Request{Text: "gold price", Sort: search.ByTime}, `"sort":["published:desc"]`, ""},
		"facets": {
			search.Request{Text: "x", Facets: true}, `"facets":["domain","language","section","tags","authors"]`, "",
		},
		"a name": {search.Request{Text: "Hanoi", Mode: search.Hybrid}, `"semanticRatio":0.2`, ""},
		"a question": {
			search.Request{Text: "why do bees make more honey in towns?", Mode: search.Hybrid},
			`"semanticRatio":0.7`, "",
		},
		"the meaning": {
			search.Request{Text: "Hanoi", Mode: search.Semantic},
			`"hybrid":{"embedder":"default","semanticRatio":1}`, "",
		},
		"a phrase": {
			search.Request{Text: `"fish and chips"`, Mode: search.Hybrid},
			`"q":"\"fish and chips\""`,
			`"hybrid":{`,
		},
	} {
		if _, err := e.Search(t.Context(), c.r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		raw, _ := json.Marshal(f.Last())
		if !bytes.Contains(raw, []byte(c.want)) || c.not != "" && bytes.Contains(raw, []byte(c.not)) {
			t.Errorf("%s: %s is not in, or %q is in, %s", name, c.want, c.not, raw)
		}
		if _, vector := f.Last()["vector"]; vector != strings.Contains(string(raw), `"hybrid":{`) {
			t.Errorf("%s: a vector %v", name, vector)
		}
	}
}

func hit(key, title, body string) map[string]any {
	return map[string]any{
		"id": searchtest.ID(key).String(), "title": title, "lead": "", "body": body,
		"url": "https://x.example/" + key, "group": searchtest.ID(key).String(), "published": 1_700_000_000,
		"_rankingScore": 0.9,
	}
}

func TestAnswersAreReadAsText(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{})
	f.Found = func(map[string]any) map[string]any {
		typo := hit("typo", "<b>Earthquake</b> shakes", "")
		typo["_matchesPosition"] = map[string]any{
			"title": []any{map[string]any{"start": 3, "length": 10}, map[string]any{"start": 900, "length": 5}},
		}
		return map[string]any{"hits": []any{typo}, "estimatedTotalHits": 9, "facetDistribution": map[string]any{
			"domain": map[string]any{"a.example": 2, "b.example": 7}, "section": map[string]any{"": 9},
		}}
	}
	a, err := e.Search(t.Context(), search.Request{Text: "eathquake", Facets: true})
	if err != nil || a.Total != 9 || len(a.Hits) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	if h := a.Hits[0].Heading; len(h) != 3 || h[0].Text != "<b>" ||
		h[1] != (search.Fragment{Text: "Earthquake", Match: true}) {
		t.Errorf("marked %+v", h)
	}
	if v := a.Facets[0].Values; len(v) != 2 || v[0] != (search.FacetValue{Value: "b.example", Count: 7}) ||
		len(a.Facets[2].Values) != 0 {
		t.Errorf("facets %+v", a.Facets)
	}
	// Meilisearch ignores diacritics; exact matches still come first.
	f.Found = func(map[string]any) map[string]any {
		return map[string]any{
			"hits":               []any{hit("bo", "Con bò", ""), hit("boyte", "Bộ Y tế", "")},
			"estimatedTotalHits": 2,
		}
	}
	if a, _ := e.Search(t.Context(), search.Request{Text: "bộ"}); len(a.Hits) != 2 || a.Hits[0].Title != "Bộ Y tế" {
		t.Errorf("%+v", a.Hits)
	}
	if a, _ := e.Search(t.Context(), search.Request{Text: "bộ", Sort: search.ByTime}); len(a.Hits) != 1 ||
		a.Total != 1 {
		t.Errorf("in the order of time %+v", a.Hits)
	}
}

// A question whose words occur in no single article matches articles with some of its
// significant words; each word is searched separately.
func TestSearch_QuestionFindsArticlesThatLackWords(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{})
	docs := map[string]map[string]any{
		"sleep":  hit("sleep", "Poor sleep and the brain", "Broken nights."),
		"people": hit("people", "People at night", ""), "brain": hit("brain", "A brain", ""),
	}
	words := map[string][]string{
		"happens": {"people"}, "brain": {"sleep", "brain"}, "people": {"people"},
		"sleep": {"sleep"}, "night": {"sleep", "people"},
	}
	f.Found = func(request map[string]any) map[string]any {
		hits := []any{}
		q, _ := request["q"].(string)
		for _, key := range words[strings.TrimSuffix(q, " ")] {
			hits = append(hits, docs[key])
		}
		if filters, _ := request["filter"].([]any); q == "" {
			for key, d := range docs {
				if strings.Contains(filters[0].(string), searchtest.ID(key).String()) {
					hits = append(hits, d)
				}
			}
		}
		return map[string]any{"hits": hits, "estimatedTotalHits": len(hits)}
	}
	a, err := e.Search(t.Context(), search.Request{
		Text: "what happens to the brain when people sleep badly at night", Facets: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range a.Hits {
		got = append(got, h.Title)
	}
	if want := []string{"Poor sleep and the brain", "People at night"}; !slices.Equal(got, want) || a.Total != 2 ||
		!a.Relaxed {
		t.Errorf("got %q of %d, relaxed %v, want %q", got, a.Total, a.Relaxed, want)
	}
}

// Meilisearch tolerates typos in prefixes.
func TestSearch_PrefixMatchesExactly(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{})
	f.Found = func(map[string]any) map[string]any {
		return map[string]any{
			"hits": []any{
				hit("flood", "The second floor", ""), hit("chip", "Smallest semiconductors", ""),
			},
			"estimatedTotalHits": 2,
		}
	}
	for _, text := range []string{"semicond*", "semicond* smallest", "-secon* semicond*"} {
		a, err := e.Search(t.Context(), search.Request{Text: text})
		if err != nil || len(a.Hits) != 1 || a.Hits[0].Title != "Smallest semiconductors" || a.Total != 1 {
			t.Errorf("%q: got %+v, %v, want the one article with the prefix", text, a, err)
		}
		if q, _ := f.Last()["q"].(string); !strings.HasSuffix(q, "semicond") {
			t.Errorf("%q is sent as %q, want the prefix at the end", text, q)
		}
	}
}

// Meilisearch recognizes synonyms of up to three words.
func TestSearch_LongNamesAreSentAsTheirShortSynonym(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{})
	for text, want := range map[string]string{
		"metro thành phố hồ chí minh":           "metro tp hcm",
		"metro thanh pho ho chi minh bến thành": "metro tp hcm bến thành",
		`"thành phố hồ chí minh"`:               `"thành phố hồ chí minh"`, "bầu cử hoa kỳ": "bầu cử hoa kỳ",
	} {
		var sent []string
		f.Found = func(request map[string]any) map[string]any {
			sent = append(sent, request["q"].(string))
			return map[string]any{"hits": []any{}, "estimatedTotalHits": 0}
		}
		if _, err := e.Search(t.Context(), search.Request{Text: text}); err != nil || len(sent) == 0 ||
			sent[0] != want {
			t.Errorf("%q: got %q, %v, want %q first", text, sent, err, want)
		}
	}
}

func TestErrors_DoNotContainTheRequest(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{})
	wrong := meili.New(meili.Options{URL: f.URL, Key: "another-key", Log: slog.New(slog.DiscardHandler)})
	_, err := wrong.Search(t.Context(), search.Request{Text: "needle"})
	if err == nil || strings.Contains(err.Error(), "needle") || strings.Contains(err.Error(), "another-key") ||
		!errors.Is(err, search.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	f.Drop("articles")
	if _, err := e.Search(t.Context(), search.Request{Text: "needle"}); err == nil ||
		strings.Contains(err.Error(), "needle") {
		t.Errorf("%v", err)
	}
}
