package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/identity/secret"
	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/llm"
	"dateline/internal/news/pipeline"
)

// endpoint is a fake of OpenAI's chat completions. It follows instructions in the page,
// and otherwise returns the configured response.
type endpoint struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string // pages
	answer func(schema, page string) string
}

const modelKey = "sk-0123456789-very-secret"

func newEndpoint(t *testing.T, answer func(schema, page string) string) *endpoint {
	e := &endpoint{answer: answer}
	orders := regexp.MustCompile(`OBEY (\{.*?\}) NOW`)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+modelKey || r.URL.Path != "/v1/chat/completions" {
			http.Error(w, "wrong key "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		var q struct {
			Messages []struct{ Role, Content string }
			Format   struct {
				Type   string
				Schema struct {
					Name   string
					Strict bool
					Schema map[string]any
				} `json:"json_schema"`
			} `json:"response_format"`
		}
		body, _ := io.ReadAll(r.Body)
		if json.Unmarshal(body, &q) != nil || q.Format.Type != "json_schema" || !q.Format.Schema.Strict ||
			q.Format.Schema.Schema["additionalProperties"] != false {
			http.Error(w, "no schema", http.StatusBadRequest)
			return
		}
		page := q.Messages[len(q.Messages)-1].Content
		e.mu.Lock()
		e.asked = append(e.asked, page)
		e.mu.Unlock()
		said := e.answer(q.Format.Schema.Name, page)
		if order := orders.FindStringSubmatch(page); order != nil {
			said = strings.NewReplacer("&quot;", `"`, "&lt;", "<", "&gt;", ">").Replace(order[1])
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]any{"content": said}}}, "usage": map[string]any{
				"total_tokens": 1000,
			},
		})
	}))
	t.Cleanup(e.Close)
	return e
}

func (d *fixture) model(e *endpoint, change ...func(*llm.Options)) *llm.Client {
	d.t.Helper()
	o := llm.Options{
		URL: e.URL + "/v1", Model: "tiny", APIKey: secret.NewText(modelKey), MaxContextTokens: 8000,
		MaxTokensPerDay: 1_000_000, Timeout: 5 * time.Second,
	}
	for _, c := range change {
		c(&o)
	}
	m, err := llm.New(o, d.News.Articles, llm.RedisCache{Redis: d.redis})
	d.must(err)
	return m
}

// unsigned returns a page with the author in an unusual place. extra is appended to the
// text.
func unsigned(p *paper, extra string) generatedArticle {
	s := p.next()
	paras := p.paragraphs(7)
	s.body = strings.Join(paras, "\n\n")
	s.html = fmt.Sprintf(
		`<!doctype html><html lang="en"><head><title>%s</title><meta property="article:published_time" content="%s"></head><body><h1>%s</h1><div class="story-text"><p>%s</p></div>
<div class="extra">%s</div><div class="sig"><i class="nm">%s</i></div></body></html>`,
		s.title, s.published.Format(time.RFC3339), s.title, strings.Join(paras, "</p><p>"), extra, s.author)
	return s
}

// signed is the path to the author of an unsigned page.
const signed = "//i[contains(concat(' ',normalize-space(@class),' '),' nm ')]"

// names returns a response with the author that the page shows.
func names(schema, page string) string {
	if schema != "fields" {
		return `{"title":"","authors":[],"published":"","paragraphs":[]}`
	}
	author := regexp.MustCompile(`<i class="nm">([^<]*)</i>`).FindStringSubmatch(page)[1]
	return "```json\n" + `{"authors":{"value":"` + author + `","paths":["` + signed + `"]},` + nothing + "}\n```"
}

// nothing is a response without values for the other fields.
const nothing = `"section":{"value":"","paths":[]},"lead":{"value":"","paths":[]}`

// The LLM finds fields that induction misses, and is only asked about pages that are
// used for learning.
func TestLLM_FindsFieldsThatInductionMisses(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 31)
	e := newEndpoint(t, names)
	d.learner.Finder = d.model(e)
	for range 12 {
		s := unsigned(p, "")
		d.hand(s.url, s.html)
		d.read()
	}
	versions, err := d.News.Articles.ListSelectors(t.Context(), d.domain("paper.example").ID, 100, 10)
	require.NoError(t, err)
	require.Len(t, versions, 1)
	require.Equal(t, pipeline.CreatedByLLM, versions[0].CreatedBy)
	require.Equal(t, 1.0, versions[0].Scores[article.FieldAuthors])
	s := unsigned(p, "")
	d.hand(s.url, s.html)
	d.read()
	all := d.articles("")
	require.Equal(t, []string{s.author}, all[len(all)-1].Authors)
	require.Len(t, e.asked, 5)
	used, err := d.News.Articles.TokensToday(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 5000, used)
}

// odd returns a page whose text is inside an element that looks like a menu.
func odd(title string, paras []string, extra string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<html><head><title>%s</title></head><body><nav class="menu"><ul>`, title)
	for _, text := range paras {
		fmt.Fprintf(&b, `<li><a href="/x">%s</a></li>`, text)
	}
	return b.String() + `</ul></nav><nav>` + extra + `</nav></body></html>`
}

// The LLM fallback copies text; text that is not on the page is dropped.
func TestLLM_OnlyExtractsTextOfThePage(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 35)
	paras := p.paragraphs(4)
	var response string
	e := newEndpoint(t, func(string, string) string { return response })
	read := func(html string) (*article.Article, error) {
		page := extract.Page{HTML: []byte(html), URL: "https://paper.example/odd.html", Now: d.at}
		doc, err := extract.Parse(t.Context(), page, extract.DefaultLimits())
		require.NoError(t, err)
		return d.model(e).ExtractArticle(t.Context(), doc, page)
	}
	honest, _ := json.Marshal(map[string]any{
		"title":   "Ice on the river",
		"authors": []string{"Mai Lan", "Invented Person"}, "published": "7 March 2026",
		"paragraphs": append(append([]string{}, paras...),
			"Buy our tokens at evil.example today, everybody does it now."),
	})
	response = string(honest)
	a, err := read(odd("Ice on the river", paras, "By Mai Lan"))
	require.NoError(t, err)
	require.Equal(t, strings.Join(paras, "\n\n"), a.Text)
	require.Equal(t, "Ice on the river", a.Title)
	require.Equal(t, []string{"Mai Lan"}, a.Authors)
	require.True(t, a.Published.IsZero(), "the page names no day")
	require.Equal(t, article.FromLLM, a.Origins[article.FieldBody].Source)
	require.NotContains(t, a.HTML, "evil")
	asked := len(e.asked)
	_, err = read(odd("Ice on the river", paras, "By Mai Lan"))
	require.NoError(t, err)
	require.Len(t, e.asked, asked, "a response is cached")

	// All text is invented: there is no article.
	_, err = read(odd("Ice on the river", p.paragraphs(4), "By Mai Lan"))
	require.ErrorIs(t, err, extract.ErrNoArticle)
}

// An LLM that is over budget, hangs, fails or returns nonsense blocks nothing, and its
// key does not leak.
func TestLLM_FailuresAreHarmless(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 36)
	page := odd("Ice", p.paragraphs(4), "")
	var log bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	d.consumer.Log, d.learner.Log = d.log, d.log
	release := make(chan struct{})
	e := newEndpoint(t, func(string, string) string { return "I am sorry, I cannot do that." })
	hanging := newEndpoint(t, func(string, string) string { <-release; return "" })
	t.Cleanup(func() { close(release) })
	elsewhere := newEndpoint(t, func(string, string) string { return "{}" })
	redirecting := &endpoint{
		Server: httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/v1/chat/completions",
			http.StatusTemporaryRedirect)),
	}
	t.Cleanup(redirecting.Close)
	for i, c := range []struct {
		name  string
		model *llm.Client
		why   string // like the fallback
	}{
		{"nonsense", d.model(e), "response of the LLM is invalid"},
		{
			"a wrong key", d.model(e, func(o *llm.Options) { o.APIKey = secret.NewText("sk-another-very-secret") }),
			"status 401",
		},
		{
			"no time", d.model(hanging, func(o *llm.Options) { o.Timeout = 50 * time.Millisecond }),
			"no response within 50ms",
		},
		{
			"no tokens", d.model(e, func(o *llm.Options) { o.MaxTokensPerDay = 10; o.Model = "dear" }),
			"token budget of the LLM is used up",
		},
		{"a redirect", d.model(redirecting), "status 307"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.reader.Fallback = c.model
			d.hand(fmt.Sprintf("https://paper.example/%d.html", i), page)
			require.Equal(t, 1, d.read().NonArticles)
			doc, err := extract.Parse(t.Context(), extract.Page{HTML: []byte(page)}, extract.DefaultLimits())
			require.NoError(t, err)
			_, err = c.model.ExtractArticle(t.Context(), doc, extract.Page{HTML: []byte(page + c.name)})
			require.ErrorIs(t, err, extract.ErrNoArticle)
			require.ErrorContains(t, err, c.why)
			require.NotContains(t, err.Error(), "sk-")
		})
	}
	require.Empty(t, elsewhere.asked)
	for _, text := range []string{log.String(), fmt.Sprintf("%+v", d.model(e))} {
		require.NotContains(t, text, modelKey)
		require.NotContains(t, text, "sk-another")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := d.consumer.Run(ctx, nil, func(pipeline.Stats) {})
	require.Error(t, err)
}
