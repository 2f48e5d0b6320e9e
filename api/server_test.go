package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/api"
	"dateline/api/spec"
	"dateline/internal/audience/report"
	"dateline/internal/audience/shortlink"
	"dateline/internal/audience/statsimport"
	"dateline/internal/audience/subscription"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/ssrf"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/pagestore"
	"dateline/internal/news/crawl/seeds"
	"dateline/internal/news/crawl/warc"
	"dateline/internal/news/pipeline"
	"dateline/internal/news/search/indexer"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/news/search/savedsearch"
	"dateline/internal/news/watch"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/label"
	"dateline/internal/publishing/linkcard"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/review"
	"dateline/internal/publishing/snippet"
	"dateline/internal/system/archive"
	"dateline/internal/system/status"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

func TestMain(m *testing.M) {
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/x-ndjson", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/warc", openapi3filter.FileBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/rss+xml", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/feed+json", openapi3filter.JSONBodyDecoder)
	openapi3filter.RegisterBodyDecoder("text/csv", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("text/javascript", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("image/svg+xml", openapi3filter.PlainBodyDecoder)
	enginetest.Main(m)
}

const maxBody = 256 << 10

// server is the API over HTTP with a fake Temporal, and a client that validates every
// response against openapi.yaml.
type server struct {
	*newsroomtest.Newsroom
	t        *testing.T
	url      string
	handler  http.Handler
	temporal *temporal
	log      *syncBuffer
	client   *http.Client
	answers  *answers
}

// temporal counts the signals per post, or fails.
type temporal struct {
	mu       sync.Mutex
	signaled map[uuid.UUID]int
	started  map[uuid.UUID]post.Post // those of new posts, which are counted as signals too
	crawls   []string                // signals to crawls
	oldest   time.Duration
	down     error
	silent   bool
}

func (w *temporal) SignalChanged(_ context.Context, id uuid.UUID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.signaled[id]++
	return w.down
}

func (w *temporal) Start(ctx context.Context, p post.Post) error {
	w.mu.Lock()
	if w.started == nil {
		w.started = map[uuid.UUID]post.Post{}
	}
	w.started[p.ID] = p
	w.mu.Unlock()
	return w.SignalChanged(ctx, p.ID)
}

func (w *temporal) start(id uuid.UUID) (p post.Post, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok = w.started[id]
	return p, ok
}

func (w *temporal) signals(id uuid.UUID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.signaled[id]
}

func (w *temporal) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = err
}

// silence makes it accept requests and never respond.
func (w *temporal) silence() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent = true
}

func (w *temporal) ping(ctx context.Context) error {
	w.mu.Lock()
	down, silent := w.down, w.silent
	w.mu.Unlock()
	if silent {
		<-ctx.Done()
		return ctx.Err()
	}
	return down
}

// queues reports seven pending steps.
func (w *temporal) queues(context.Context) ([]status.Queue, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return []status.Queue{{Name: "dateline-post", Kind: "workflow", Pending: 7, Oldest: w.oldest}}, w.down
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// noContent leaves the demo empty.
type noContent struct{}

func (noContent) Created(workspace.Workspace, uuid.UUID)              {}
func (noContent) Deleting(context.Context, workspace.Workspace) error { return nil }

func publishingAPI(n *newsroomtest.Newsroom, changes api.PostChanges) api.Publishing {
	s := n.Store.Publishing
	images := &linkcard.Fetcher{Web: n.Media.Web}
	return api.Publishing{
		PostHandler:       api.PostHandler{Store: s.Posts, Scheduler: n.Scheduler, PostChanges: changes},
		DeadLetterHandler: api.DeadLetterHandler{Store: s.Ledger, Scheduler: n.Scheduler, PostChanges: changes},
		SeriesHandler:     api.SeriesHandler{Store: s.Series, Scheduler: n.Scheduler, PostChanges: changes},
		QueueHandler: api.QueueHandler{
			Groups: &account.Groups{Store: s.Accounts}, Zones: n.Store.Identity.Workspaces, Scheduler: n.Scheduler,
			PostChanges: changes,
		},
		PostReportHandler: api.PostReportHandler{Store: n.Store.PostReports(), Zones: n.Store.Identity.Workspaces},
		EventHandler:      api.EventHandler{Store: s.Posts, Events: n.Bus, Log: changes.Log},
		AccountHandler: api.AccountHandler{
			Accounts: n.Accounts, Store: n.Store.AccountList(), Scheduler: n.Scheduler, Dashboard: true,
		},
		LinkPreviewHandler: api.LinkPreviewHandler{
			LinkCard: images, Mentions: &account.Mentions{Accounts: n.Accounts},
			Avatars: &account.Avatars{Store: s.Accounts, Images: images},
		},
		MediaHandler:   api.MediaHandler{Media: n.Media, Scheduler: n.Scheduler, PostChanges: changes},
		LabelHandler:   api.LabelHandler{Labels: &label.Labels{Store: s.Labels, Notifier: n.Scheduler.Notifier}},
		SnippetHandler: api.SnippetHandler{Snippets: &snippet.Snippets{Store: s.Snippets}},
		ReviewHandler: api.ReviewHandler{
			Reviews: &review.Reviews{Store: s.Reviews, Decider: n.Scheduler, Notifier: n.Scheduler.Notifier},
			Store:   s.Posts, Scheduler: n.Scheduler, Media: n.Media, PublicURL: publicURL,
			PostChanges: changes,
		},
		ShortLinkHandler: api.ShortLinkHandler{
			Links: &shortlink.Service{Store: n.Store.Audience.Links, BaseURL: n.Scheduler.LinkBase},
		},
	}
}

func audienceAPI(n *newsroomtest.Newsroom, c *newsroomtest.Audience) *api.Audience {
	reports := &report.Reporter{Store: n.Store.Audience.Reports}
	return &api.Audience{
		Ingest: c.Ingest,
		CountHandler: api.CountHandler{
			Sites: n.Sites, Counts: c.Counts, Posts: n.Store.Publishing.Posts, Signals: c.Signals,
		},
		ReportHandler:    api.ReportHandler{Sites: n.Sites, Reports: reports},
		PlausibleHandler: api.PlausibleHandler{Sites: n.Sites, Reports: reports, Counts: c.Counts},
		SiteHandler:      api.SiteHandler{Sites: n.Sites},
		SharedLinkHandler: api.SharedLinkHandler{
			SharedLinks: sharedLinks(n.Store), SharedPages: sharedPages(n.Store),
		},
		SubscriptionHandler: api.SubscriptionHandler{
			Subscriptions:    subscriptions(n.Store),
			UnsubscribePages: subscription.NewPages(n.Store.Audience.Subscriptions, slog.New(slog.DiscardHandler)),
		},
		StatsImportHandler: api.StatsImportHandler{Imports: &statsimport.Service{Store: n.Store.Audience.Sites}},
		ErasureHandler:     api.ErasureHandler{ViewsStore: fakeViewsStore{n.Store.Audience.Views}},
	}
}

func newsAPI(n *newsroomtest.Newsroom, w *temporal, cache redis.Cmdable, log *slog.Logger) *api.News {
	n.T.Helper()
	guard, err := ssrf.New(nil)
	n.Must(err)
	raw, err := pagestore.New(n.Objects)
	n.Must(err)
	return &api.News{
		CrawlHandler: api.CrawlHandler{
			Crawl: &seeds.Service{
				Seeds: n.Store.News.Domains, Domains: n.Store.News.Domains, Stats: n.Store.News.Domains,
				Exports: n.Store.News.Domains, Workflows: w,
				Guard: guard, Objects: n.Objects, Policy: crawl.DefaultRevisitPolicy(), HasBrowser: true, Log: log,
			},
			Archives: &warc.Exporter{
				Store: n.Store.News.Domains, Pages: raw, Objects: n.Objects, Software: "Dateline", Log: log,
			},
			Log: log,
		},
		ArticleHandler: api.ArticleHandler{Articles: &pipeline.Service{
			Store: n.Store.Extraction(), Pages: raw, Learners: w, Log: log,
			Sites: &pipeline.SiteCache{Store: n.Store.News.Articles, Redis: cache, Log: log},
		}},
		SearchHandler: api.SearchHandler{
			Search: &savedsearch.Service{
				Store: n.Store.News.Searches, Engine: pgsearch.New(n.Store.Pool(), pgsearch.Options{Log: log}),
			},
			PublicURL: publicURL,
		},
		RebuildHandler: api.RebuildHandler{
			Rebuilds: &indexer.Rebuilds{Store: n.Store.News.Searches, Workflows: w},
		},
		RuleHandler:  api.RuleHandler{Rules: rules(n)},
		WatchHandler: api.WatchHandler{Watches: &watch.Service{Store: n.Store.News.Watches, Guard: guard}},
		StoryHandler: api.StoryHandler{Stories: stories(n)},
	}
}

const publicURL = "https://dateline.example"

// handler builds the API of a newsroom.
func handler(n *newsroomtest.Newsroom, w *temporal, log io.Writer, change ...func(*api.Server)) http.Handler {
	n.T.Helper()
	redis := enginetest.RedisClient(n.T, n.RedisURL)
	origin, err := n.Objects.Origin(n.T.Context())
	n.Must(err)
	c := n.CountViews(log)
	logger := slog.New(slog.NewTextHandler(log, nil))
	changes := api.PostChanges{
		Workflows: w, Log: logger,
		WorkflowURL: func(id string) string { return "https://temporal.example/workflows/" + id },
	}
	archives := &archive.Archives{
		Store: n.Store.Installation.Archive, Objects: n.Objects, Workflows: w, Version: "test",
	}
	s := &api.Server{
		Settings: api.Settings{
			Document: readDocument, BucketOrigin: origin, Dashboard: true, Log: logger, MaxBodyBytes: maxBody,
			Page: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "<!doctype html>")
			}),
		},
		Publishing: publishingAPI(n, changes),
		Audience:   audienceAPI(n, c),
		News:       newsAPI(n, w, redis, logger),
		Identity: api.Identity{
			MemberHandler: api.MemberHandler{
				Store: n.Store.Identity.Workspaces, People: n.People, Events: n.Bus,
				Audit: n.Store.Installation.Archive.AuditArchive,
			},
			SessionHandler:   api.SessionHandler{Login: n.Login, Events: n.Bus},
			WorkspaceHandler: api.WorkspaceHandler{Store: n.Store.Identity.Workspaces, People: n.People},
			DemoHandler: api.DemoHandler{Demo: &workspace.Demo{
				Store: n.Store.Identity.Workspaces, Content: noContent{}, Zone: "UTC", Log: logger,
			}},
			ArchiveHandler: api.ArchiveHandler{Exports: archives, Log: logger},
		},
		Notify: api.Notify{
			WebhookHandler:      api.WebhookHandler{Webhooks: n.Webhooks},
			NotificationHandler: api.NotificationHandler{Notifications: notifications(n), CanSendEmail: true},
			NotificationPages: api.NotificationPages{
				NotificationStore: n.Store.Notify.Notifications, NotificationLinks: notificationLinks(n),
				Scheduler: n.Scheduler, PostChanges: changes,
			},
		},
		Installation: api.Installation{
			TimeHandler: api.TimeHandler{Zones: n.Store.Identity.Workspaces},
			SystemHandler: api.SystemHandler{
				Log: logger,
				Checks: map[string]api.Check{
					"database": n.Store.Ping, "objects": n.Objects.Ping, "temporal": w.ping,
					"redis": func(ctx context.Context) error { return redis.Ping(ctx).Err() },
				},
				System: &status.Reporter{
					Store: n.Store.Status(), Version: "test", Queues: w.queues, Log: logger,
					Readers: func(ctx context.Context) (status.Readers, error) {
						quarantined, err := c.Counter.QuarantineSize(ctx)
						return status.Readers{Quarantined: quarantined}, err
					},
				},
			},
		},
	}
	s.Redirect = &shortlink.Redirector{
		Finder: n.Store.Audience.Links, Counter: c.Batcher, Classifier: byHeader{}, Sites: c.Directory, Log: logger,
	}
	s.Into = archive.Target{
		Store: n.Store.Installation.Archive, Objects: n.Objects, Media: n.Media,
		Audit: n.Store.Installation.Archive.AuditArchive, Sites: n.Sites, Seeds: s.Crawl,
	}
	for _, f := range change {
		f(s)
	}
	h, err := s.Handler()
	n.Must(err)
	return h
}

func (w *temporal) SignalCrawl(_ context.Context, domain string, what crawl.Command) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crawls = append(w.crawls, string(what)+" "+domain)
	return w.down
}

func (w *temporal) StartWorkspaceExport(context.Context, uuid.UUID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down
}

func (w *temporal) StartReindex(context.Context) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crawls = append(w.crawls, "reindex")
	return "", w.down
}

// archives writes exports like the worker.
func (s *server) archives() *archive.Archives {
	return &archive.Archives{
		Store: s.Store.Installation.Archive, Objects: s.Objects, Workflows: s.temporal, Version: "test",
	}
}

func (w *temporal) StartExport(context.Context, string, string, string, time.Time, time.Time) error {
	return w.down
}

func (w *temporal) StartSelectorLearning(_ context.Context, domain string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crawls = append(w.crawls, "learn "+domain)
	return w.down
}

func start(t *testing.T, change ...func(*api.Server)) *server {
	t.Helper()
	s := &server{
		Newsroom: newsroomtest.Open(t), t: t, temporal: &temporal{signaled: map[uuid.UUID]int{}},
		log: &syncBuffer{},
	}
	s.handler = handler(s.Newsroom, s.temporal, s.log, change...)
	listener := httptest.NewServer(s.handler)
	t.Cleanup(func() {
		listener.Close()
		// Package testing references this function until the last test of the process has ended,
		// and with it 20 MB: the handler with its tables of sources and limits.
		listener.Config.Handler = nil
	})
	s.url = listener.URL
	s.answers = newAnswers(t)
	_, sockets, _ := strings.Cut(s.DatabaseURL, "host=")
	s.answers.forbidden = []string{
		s.Token, sockets, s.RedisURL,
		"SQLSTATE", "pgx", "dial ", "goroutine ",
	}
	s.client = &http.Client{Transport: s.answers, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// withoutMark returns a CSV with plain line ends and without its byte order mark, by which Excel recognizes UTF-8.
func withoutMark(t *testing.T, csv []byte) string {
	t.Helper()
	text, ok := strings.CutPrefix(string(csv), "\ufeff")
	if !ok {
		t.Errorf("the CSV does not begin with a byte order mark: %.40q", csv)
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}

// answer is a response with its body.
type answer struct {
	*http.Response
	body []byte
}

// send makes a request with the owner's token. body is JSON text, a reader, or a value
// to encode as JSON.
func (s *server) send(method, path string, body any, headers ...string) answer {
	s.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case io.Reader:
		reader = b
	default:
		raw, err := json.Marshal(b)
		s.Must(err)
		reader = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, reader)
	s.Must(err)
	r.Header.Set("Authorization", "Bearer "+s.Token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return s.do(r)
}

func (s *server) do(r *http.Request) answer {
	s.t.Helper()
	got, err := s.client.Do(r)
	s.Must(err)
	raw, err := io.ReadAll(got.Body)
	s.Must(errors.Join(err, got.Body.Close()))
	return answer{got, raw}
}

func (s *server) decode(a answer, status int, into any) {
	s.t.Helper()
	if a.StatusCode != status {
		s.t.Fatalf("%s %s: %s, want %d: %s", a.Request.Method, a.Request.URL.Path, a.Status, status, a.body)
	}
	s.Must(json.Unmarshal(a.body, into))
}

func (s *server) post(a answer, status int) (p spec.Post) {
	s.t.Helper()
	s.decode(a, status, &p)
	return p
}

// refused checks an error's status, code and fields.
func (s *server) refused(a answer, status int, code string, fields ...string) {
	s.t.Helper()
	var p spec.Problem
	if err := json.Unmarshal(a.body, &p); err != nil || a.StatusCode != status || p.Code != code {
		s.t.Errorf("%s %s: %s %s, want %d %s: %s", a.Request.Method, a.Request.URL.Path, a.Status, p.Code, status, code,
			a.body)
		return
	}
	var named []string
	if p.Errors != nil {
		for _, e := range *p.Errors {
			named = append(named, e.Field)
		}
	}
	for _, field := range fields {
		if !slices.Contains(named, field) {
			s.t.Errorf("%s %s: names the fields %q, want %s: %s", a.Request.Method, a.Request.URL.Path, named, field,
				a.body)
		}
	}
}

func in(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339Nano) }

// object is a JSON object.
type object map[string]any

// hello is a valid request to schedule a post.
func hello(more ...object) object {
	o := object{"content": "Hello", "scheduled_time": in(time.Hour)}
	for _, m := range more {
		for k, v := range m {
			o[k] = v
		}
	}
	return o
}
