package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"dateline/internal/identity/workspace"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/pagestore"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/news/pipeline"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/crawlrig"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/s3test"
	"dateline/internal/testing/storetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// fixture processes pages that tests queue like the crawler.
type fixture struct {
	*postgres.Store
	t         *testing.T
	db        *pgx.Conn
	redis     redis.UniversalClient
	pages     *pagestore.Store
	sites     *pipeline.SiteCache
	reader    *pipeline.Extractor
	learner   *pipeline.Learner
	consumer  *pipeline.Consumer
	workspace workspace.Workspace
	log       *slog.Logger
	at        time.Time
}

// learners runs the learner immediately.
type learners struct{ d *fixture }

func (l learners) StartSelectorLearning(ctx context.Context, domain string) error {
	_, err := l.d.learner.Learn(ctx, domain, func() {})
	return err
}

// newFixture returns a fixture with seeds on the given sites.
func newFixture(t *testing.T, hosts ...string) *fixture {
	t.Helper()
	s, url := storetest.OpenWithURL(t)
	d := &fixture{
		Store: s, t: t, redis: enginetest.RedisClient(t, enginetest.Redis(t)),
		at:  time.Date(2026, 3, 7, 1, 0, 0, 0, time.UTC),
		log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	var err error
	d.db, err = pgx.Connect(context.Background(), url)
	d.must(err)
	t.Cleanup(func() { _ = d.db.Close(context.Background()) })
	d.pages, err = pagestore.New(s3test.Bucket(t))
	d.must(err)
	d.sites = &pipeline.SiteCache{Store: s.News.Articles, Redis: d.redis, Log: d.log}
	d.reader = &pipeline.Extractor{Pages: d.pages, Sites: d.sites}
	d.learner = &pipeline.Learner{Store: s.Extraction(), Pages: d.pages, Sites: d.sites, Log: d.log}
	d.consumer = &pipeline.Consumer{
		Store: s.Extraction(), Extractor: d.reader, Learners: learners{d}, Log: d.log,
		Timing: pipeline.Timing{
			PollInterval: 10 * time.Millisecond, IdleTimeout: 50 * time.Millisecond, RetryDelay: 10 * time.Millisecond,
		},
	}
	var seeds []string
	for _, h := range hosts {
		seeds = append(seeds, "https://"+h+"/")
	}
	d.workspace, err = crawlrig.CreateWorkspaceWithSeeds(t.Context(), s, crawl.DefaultRevisitPolicy(), crawl.Home,
		seeds...)
	d.must(err)
	return d
}

func (d *fixture) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// hand queues a page like the crawler.
func (d *fixture) hand(address, html string) {
	d.t.Helper()
	u, err := weburl.Parse(address, weburl.Rules{})
	d.must(err)
	domain, err := d.News.Domains.GetCrawlDomain(d.t.Context(), u.Domain())
	d.must(err)
	d.at = d.at.Add(time.Minute)
	key := crawl.ObjectKey(domain.Name, crawl.URLID(u), pagestore.Hash([]byte(html)))
	_, err = d.pages.Put(d.t.Context(), key, []byte(html))
	d.must(err)
	_, err = d.db.Exec(d.t.Context(),
		`insert into crawled_pages (domain_id, url_id, fetched_at, url, object_key, found_at, is_first_version) values ($1, $2, $3, $4, $5, $6, true)`,
		domain.ID, crawl.URLID(u), d.at, u.String(), key, d.at.Add(-time.Second))
	d.must(err)
}

// read processes all queued pages.
func (d *fixture) read() pipeline.Stats {
	d.t.Helper()
	did, err := d.consumer.Run(d.t.Context(), nil, func(pipeline.Stats) {})
	d.must(err)
	return did
}

func (d *fixture) domain(name string) crawl.Domain {
	d.t.Helper()
	out, err := d.News.Domains.GetCrawlDomain(d.t.Context(), name)
	d.must(err)
	return out
}

// articles returns all articles of a workspace, the oldest first.
func (d *fixture) articles(domain string) []pipeline.StoredArticle {
	d.t.Helper()
	far := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	list, err := d.News.Articles.Articles(d.t.Context(), pipeline.ArticleQuery{
		Workspace: d.workspace.ID, Domain: domain, To: far, Before: far, Limit: 500,
	})
	d.must(err)
	out := make([]pipeline.StoredArticle, len(list))
	for i, e := range list {
		out[len(list)-1-i], err = d.News.Articles.Article(d.t.Context(), d.workspace.ID, e.ID)
		d.must(err)
	}
	return out
}

// count counts rows.
func (d *fixture) count(query string, args ...any) (n int) {
	d.t.Helper()
	d.must(d.db.QueryRow(d.t.Context(), query, args...).Scan(&n))
	return n
}

// event is an event about selectors.
type event struct {
	Type, Actor string
	Data        struct {
		Domain, Field, Reason string
		Version, Previous     int
		LearnError            string `json:"learn_error"`
	}
}

func (d *fixture) events() (out []event) {
	d.t.Helper()
	rows, err := d.db.Query(d.t.Context(),
		`select type, actor, data from post_events where type like 'selectors_%' and workspace_id = $1 order by id`,
		d.workspace.ID)
	d.must(err)
	defer rows.Close()
	for rows.Next() {
		var e event
		var data []byte
		d.must(rows.Scan(&e.Type, &e.Actor, &data))
		d.must(json.Unmarshal(data, &e.Data))
		out = append(out, e)
	}
	d.must(rows.Err())
	return out
}

// paper is an invented newspaper with one of two templates.
type paper struct {
	rnd      *rand.Rand
	host     string
	redesign bool
	n        int
}

// generatedArticle is an article of a generated page.
type generatedArticle struct {
	url, html, title, author, body string
	published                      time.Time
}

func newPaper(host string, seed uint64) *paper {
	return &paper{rnd: rand.New(rand.NewPCG(seed, 11)), host: host}
}

func (p *paper) words(n int) string {
	list := strings.Fields("river council school market engine harbour report winter budget player season doctor " +
		"museum bridge farmer island letter police garden minister train signal planet summer court valley teacher " +
		"factory window traffic village music company library weather hospital street election")
	out := make([]string, n)
	for i := range out {
		out[i] = list[p.rnd.IntN(len(list))] + []string{"", "s", "ed", ""}[p.rnd.IntN(4)]
	}
	return strings.Join(out, " ")
}

func (p *paper) sentence() string {
	w := p.words(9 + p.rnd.IntN(8))
	return strings.ToUpper(w[:1]) + w[1:] + ", " + p.words(4) + "."
}

func (p *paper) paragraphs(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = p.sentence() + " " + p.sentence() + " " + p.sentence()
	}
	return out
}

func (p *paper) next() generatedArticle {
	p.n++
	s := generatedArticle{
		url:       fmt.Sprintf("https://%s/story-%d.html", p.host, p.n),
		title:     strings.TrimSuffix(p.sentence(), "."),
		author:    []string{"Mai Lan", "Jo Harper", "Peter Quill", "Ana Duarte"}[p.rnd.IntN(4)],
		published: time.Date(2026, 3, 1+p.n%6, p.n%24, 5+p.n%50, 0, 0, time.UTC),
	}
	paras := p.paragraphs(5 + p.rnd.IntN(6))
	s.body = strings.Join(paras, "\n\n")
	said := ""
	if p.n%4 != 0 {
		said = fmt.Sprintf(`<meta name="author" content="%s"><meta property="article:published_time" content="%s">`,
			s.author, s.published.Format(time.RFC3339))
	}
	head := fmt.Sprintf(
		`<!doctype html><html lang="en"><head><title>%s | The Paper</title><meta property="og:site_name" content="The Paper">%s</head>`, s.title, said)
	if p.redesign {
		s.html = head + fmt.Sprintf(
			`<body><div id="app" class="css-%dab"><main><section class="hero"><h1>%s</h1></section>
<section class="second-row"><b class="name-tag">%s</b><time>%s</time></section>
<section class="prose flow k%dz9"><div>%s</div><div class="house-line"><p>Do you know more about this? Write to our newsroom in Harbour Street, we read every letter.</p></div></section></main>%s</div></body></html>`,
			p.n, s.title, s.author, s.published.Format("2006-01-02 15:04 UTC"), p.n, strings.Join(paras, "</div><div>"),
			p.others())
		return s
	}
	s.html = head + fmt.Sprintf(
		`<body class="page-%d"><header class="masthead"><a href="/">The Paper</a><nav><a href="/world">World</a></nav></header>
<div class="page-wrap"><h1 class="headline">%s</h1><div class="under-title"><span class="who">%s</span> <span class="when-out">%s</span></div>
<div class="longread col-%d "><p>%s</p><div class="house-line"><p>Do you know more about this? Write to our newsroom in Harbour Street, we read every letter.</p></div></div>%s</div></body></html>`,
		p.n, s.title, s.author, s.published.Format("2 January 2006 15:04 UTC"), p.n, strings.Join(paras, "</p><p>"),
		p.others())
	return s
}

func (p *paper) others() string {
	var b strings.Builder
	b.WriteString(`<div class="grid-below">`)
	for i := range 4 {
		fmt.Fprintf(&b, `<div class="tile"><h3><a href="/other-%d">%s</a></h3><p>%s</p></div>`, i, p.sentence(),
			p.sentence())
	}
	return b.String() + `</div>`
}

// plain returns a page that contains just a text.
func plain(title, canonical string, paras ...string) string {
	link := ""
	if canonical != "" {
		link = `<link rel="canonical" href="` + canonical + `">`
	}
	return `<!doctype html><html lang="en"><head><title>` + title + `</title>` + link +
		`<meta property="article:published_time" content="2026-03-06T10:00:00Z"></head><body><article><h1>` + title +
		`</h1><p>` + strings.Join(paras, `</p><p>`) + `</p></article></body></html>`
}

// teasers returns selectors that match the teasers below the text.
func teasers() selector.Config {
	return selector.Config{
		Variants: []selector.Variant{{Name: "wrong", Body: []string{"//div[contains(@class,'grid-below')]"}}},
	}
}

func ids(all []pipeline.StoredArticle) []uuid.UUID {
	out := make([]uuid.UUID, len(all))
	for i, a := range all {
		out[i] = a.ID
	}
	return out
}

// extractionOf extracts a leased page without saving it.
func (d *fixture) extractionOf(c crawl.CrawledPage) pipeline.Extraction {
	d.t.Helper()
	page, rules, err := d.News.Articles.PageOf(d.t.Context(), c)
	d.must(err)
	r, err := d.reader.Extract(d.t.Context(), page, rules)
	d.must(err)
	return r
}
