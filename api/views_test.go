package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api"
	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/testing/enginetest"
)

// hit counts a view like a reader's browser.
func (s *server) hit(key, page, reader string) {
	s.t.Helper()
	a := s.send("POST", "/v1/view", object{"site": key, "page": page, "user": reader}, "Authorization", "",
		"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Accept-Language", "vi")
	if a.StatusCode != http.StatusAccepted {
		s.t.Errorf("%s %s", a.Status, a.body)
	}
}

func TestSites_CRUD(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.send("POST", "/api/v1/sites",
		object{"name": " Tin tức ", "domains": []string{"News.Example.", "news.example", "báo.example"}},
		"Idempotency-Key", "one")
	var first spec.SiteWithSecret
	s.decode(made, 201, &first)
	w := first.Site
	got := fmt.Sprint(w.Name, w.Domains, w.TimeZone, w.WindowSeconds, w.UniqueMethod, w.RateHits, w.RateSeconds,
		w.Visitors, w.PublicCounts)
	if want := fmt.Sprint("Tin tức", []string{"news.example", "xn--bo-mia.example"}, "Asia/Ho_Chi_Minh", 1800,
		"hyperloglog", 5, 10, "cookieless", false); got != want {
		t.Errorf("settings: got %s, want %s", got, want)
	}
	if !strings.HasPrefix(w.WriteKey, "dlw_") {
		t.Errorf("write key: got %s, want the prefix dlw_", w.WriteKey)
	}
	if first.SecretKey == nil || !strings.HasPrefix(*first.SecretKey, "dls_") {
		t.Fatalf("%s", made.body)
	}
	var again spec.SiteWithSecret
	repeated := s.send("POST", "/api/v1/sites",
		object{"name": " Tin tức ", "domains": []string{"News.Example.", "news.example", "báo.example"}},
		"Idempotency-Key", "one")
	s.decode(repeated, 201, &again)
	if again.Site.Id != first.Site.Id || again.SecretKey != nil ||
		repeated.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s", repeated.body)
	}
	one := "/api/v1/sites/" + first.Site.Id.String()
	var changed spec.Site
	s.decode(s.send("PATCH", one, object{
		"window_seconds": 60, "visitors": "cookie", "public_counts": true,
		"domains": []string{},
	}), 200, &changed)
	got = fmt.Sprint(changed.WindowSeconds, changed.Visitors, changed.PublicCounts, len(changed.Domains),
		changed.WriteKey)
	if want := fmt.Sprint(60, "cookie", true, 0, first.Site.WriteKey); got != want {
		t.Errorf("changed settings: got %s, want %s", got, want)
	}
	var rotated spec.SiteWithSecret
	s.decode(s.send("POST", one+"/rotate-secret", nil), 200, &rotated)
	if rotated.SecretKey == nil || *rotated.SecretKey == *first.SecretKey {
		t.Errorf("%+v", rotated)
	}
	var list spec.SiteList
	s.decode(s.send("GET", "/api/v1/sites", nil), 200, &list)
	if len(list.Sites) != 1 || list.Sites[0].Id != first.Site.Id {
		t.Errorf("%+v", list)
	}
	for _, c := range []struct {
		name, field string
		body        object
		status      int
	}{
		{"no name", "name", object{"name": "  "}, 422},
		{"domain with a path", "domains", object{"name": "x", "domains": []string{"news.example/a"}}, 422},
		{"domain that is an address", "domains", object{"name": "x", "domains": []string{"203.0.113.7"}}, 422},
		{"unknown zone", "time_zone", object{"name": "x", "time_zone": "Mars/Olympus"}, 422},
		{"short window", "window_seconds", object{"name": "x", "window_seconds": 59}, 400},
		{"unknown way", "unique_method", object{"name": "x", "unique_method": "guess"}, 400},
		{"bitmap without ids", "max_id", object{"name": "x", "unique_method": "bitmap"}, 422},
		{"ids without bitmap", "max_id", object{"name": "x", "max_id": 5}, 422},
		{"no rate", "rate_hits", object{"name": "x", "rate_hits": 0}, 400},
	} {
		s.refused(s.send("POST", "/api/v1/sites", c.body), c.status, "invalid_request", c.field)
	}
	// Immutable
	s.refused(s.send("PATCH", one, object{"unique_method": "set"}), 400, "invalid_request", "unique_method")
	if a := s.send("DELETE", one, nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("%s", a.Status)
	}
	s.refused(s.send("GET", one, nil), 404, "site_not_found")
	if got := s.Count("select count(*) from audit_log where action like 'site.%'"); got != 4 {
		t.Errorf("%d lines in the audit log", got)
	}
	bitmap, _ := s.Site(func(w *site.Site) { w.UniqueMethod, w.MaxID = counter.Bitmap, 1000 })
	s.refused(s.send("PATCH", "/api/v1/sites/"+bitmap.ID.String(), object{"max_id": 999}), 422, "invalid_request",
		"max_id")
}

// Counts are available immediately, in every form.
func TestViews_Endpoints(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, key := s.Site()
	s.Connect("desk")
	p := s.Schedule()
	for i, page := range []string{"/a", "/a", "/a", "/b", p.ID.String(), p.ID.String()} {
		s.hit(w.WriteKey, page, fmt.Sprint("reader ", i))
	}
	s.hit(w.WriteKey, "/a", "reader 0") // again
	s.send("POST", "/v1/event", object{"site": w.WriteKey, "page": p.ID, "type": "click", "user": "reader 4"},
		"User-Agent", "curl/8", "Authorization", "")
	batch := s.send("POST", "/v1/batch", []object{
		{"page": p.ID, "type": "click", "user": "reader 4"},
		{"page": p.ID, "type": "conversion", "user": "reader 4"},
	}, "Authorization", "Bearer "+key)
	if batch.StatusCode != http.StatusAccepted {
		t.Errorf("%s %s", batch.Status, batch.body)
	}
	viewCounter := counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{})
	s.Must(viewCounter.Aggregate(t.Context()))
	base := "/api/v1/sites/" + w.ID.String()

	var list spec.PageStatsList
	s.decode(s.send("GET", base+"/pages/stats?page=/a&page=https://news.example/b%3Futm_source=x&page=/nobody", nil),
		200, &list)
	if len(list.Pages) != 3 {
		t.Fatalf("pages: got %+v, want three", list.Pages)
	}
	got := fmt.Sprint(list.Pages[0].Views, list.Pages[0].Uniques.Day, list.Pages[1].Page, list.Pages[1].Views,
		list.Pages[2].Views)
	if want := fmt.Sprint(3, 3, "/b", 1, 0); got != want {
		t.Errorf("counts of pages: got %s, want %s", got, want)
	}
	var series spec.PageSeries
	s.decode(s.send("GET", base+"/pages/series?page=/a&unit=day&buckets=7", nil), 200, &series)
	if len(series.Buckets) != 7 || series.Buckets[6].Count != 3 || series.Type != "view" {
		t.Errorf("%+v", series)
	}
	s.refused(s.send("GET", base+"/pages/series?page=/a&unit=day&buckets=36", nil), 422, "invalid_request", "buckets")
	var funnel spec.PageFunnel
	s.decode(s.send("GET", base+"/pages/funnel?page="+p.ID.String(), nil), 200, &funnel)
	if funnel.Views != 2 || funnel.Clicks != 1 || funnel.Conversions != 1 {
		t.Errorf("%+v", funnel)
	}
	var dimensions spec.PageDimensions
	s.decode(s.send("GET", base+"/pages/dimensions?page=/a", nil), 200, &dimensions)
	if dimensions.Device["desktop"] != 3 {
		t.Errorf("%+v", dimensions)
	}
	var filtered spec.PageFiltered
	s.decode(s.send("GET", base+"/pages/filtered?page="+p.ID.String(), nil), 200, &filtered)
	if filtered.Reasons["library"] != 1 {
		t.Errorf("%+v", filtered)
	}
	var stats spec.PostStats
	s.decode(s.send("GET", "/api/v1/posts/"+p.ID.String()+"/stats", nil), 200, &stats)
	got = fmt.Sprint(stats.PostId, stats.Views, stats.Clicks, stats.Conversions, stats.Uniques.AllTime,
		stats.Filtered["library"], stats.Device["desktop"])
	if want := fmt.Sprint(p.ID, 2, 1, 1, 2, 1, 2); got != want {
		t.Errorf("counts of the post: got %s, want %s", got, want)
	}
	s.refused(s.send("GET", "/api/v1/posts/"+uuid.NewString()+"/stats", nil), 404, "post_not_found")
	s.refused(s.send("GET", base+"/pages/stats?page=%00", nil), 422, "invalid_request", "page")
}

// Routes below /v1 are counted under a fixed set of names.
func TestIngest_IsMetered(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site()
	met := &meter{}
	c := s.CountViews(io.Discard)
	metered := s.withoutAreas()
	metered.Meter, metered.Audience = met, audienceAPI(s.Newsroom, c)
	h, err := metered.Handler()
	s.Must(err)
	serve(t, h, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/view",
		strings.NewReader(`{"site":"`+w.WriteKey+`","page":"/a"}`)))
	serve(t, h, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/made-up-by-a-client", http.NoBody))
	if got := strings.Join(met.seen, ", "); got != "POST /v1/view 202, GET none 404" {
		t.Errorf("metered are %s", got)
	}
}

type meter struct{ seen []string }

func (m *meter) Answered(_ context.Context, method, route, status string, _ time.Duration) {
	m.seen = append(m.seen, method+" "+route+" "+status)
}

// Clicks on short links are counted under the workspace and belong to the post.
func TestPostStats_CountsClicks(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Schedule()
	viewCounter := counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{})
	_, err := viewCounter.Count(t.Context(), []counter.Hit{
		{
			Site: site.PostsSite(s.Workspace.ID), Page: p.ID.String(), Kind: counter.Click,
			Visitor: counter.Visitor{Hash: 7}, At: time.Now(),
		},
	})
	s.Must(err)
	var stats spec.PostStats
	s.decode(s.send("GET", "/api/v1/posts/"+p.ID.String()+"/stats", nil), 200, &stats)
	var list spec.PageStatsList
	s.decode(s.send("GET", "/api/v1/sites/"+s.Workspace.ID.String()+"/pages/stats?page="+p.ID.String(), nil), 200,
		&list)
	if stats.Clicks != 1 || list.Pages[0].Clicks != 1 {
		t.Errorf("%+v %+v", stats, list)
	}
}

// Rankings are cached for 30 seconds.
func TestTrending_IsCached(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.RateHits = 1000 })
	// A page rises with three views, which decay until they are aggregated.
	for i, page := range []string{"/a", "/a", "/a", "/a", "/a", "/a", "/b", "/b", "/c"} {
		s.hit(w.WriteKey, page, fmt.Sprint(i))
	}
	s.Must(counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{}).Aggregate(t.Context()))
	ask := func(query string) (pages []string) {
		t.Helper()
		var list spec.TrendingList
		s.decode(s.send("GET", "/api/v1/trending?"+query, nil), 200, &list)
		for _, p := range list.Pages {
			pages = append(pages, p.Page)
		}
		return pages
	}
	bySite := "site=" + w.ID.String()
	for _, query := range []string{
		bySite, bySite + "&window=now", bySite + "&window=hour", bySite + "&window=day",
		bySite + "&limit=3",
	} {
		if got := strings.Join(ask(query), " "); got != "/a /b /c" {
			t.Errorf("%s: %s", query, got)
		}
	}
	if got := ask(bySite + "&limit=1"); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if got := ask(bySite + "&rising=true"); len(got) == 0 {
		t.Error("nothing rises")
	}
	if got := ask(""); len(got) != 0 { // of posts
		t.Errorf("%q", got)
	}
	s.refused(s.send("GET", "/api/v1/trending?site="+uuid.NewString(), nil), 404, "site_not_found")
	s.StopRedis()
	if got := strings.Join(ask(bySite), " "); got != "/a /b /c" {
		t.Errorf("without Redis: %s", got)
	}
}

// A stream shows a view soon after it is counted.
func TestLiveViews_StreamsChanges(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	for _, query := range []string{"?page=/live", ""} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/sites/"+w.ID.String()+"/live"+query,
			http.NoBody)
		s.Must(err)
		r.Header.Set("Authorization", "Bearer "+s.Token)
		stream, err := s.client.Do(r)
		s.Must(err)
		defer func() { _ = stream.Body.Close() }()
		lines := bufio.NewScanner(stream.Body)
		next := func() (list spec.PageStatsList) {
			t.Helper()
			for lines.Scan() {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					s.Must(json.Unmarshal([]byte(data), &list))
					return list
				}
			}
			t.Fatalf("the stream has ended: %v", lines.Err())
			return list
		}
		before := next()
		s.hit(w.WriteKey, "/live", "reader of "+query)
		s.Must(counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{}).Aggregate(t.Context()))
		want := int64(1)
		if len(before.Pages) > 0 {
			want += before.Pages[0].Views
		}
		for got := next(); len(got.Pages) == 0 || got.Pages[0].Views != want; got = next() {
		}
	}
}

// "Reading now" shows the last minutes, not all views.
func TestLiveViews_ListsWhatWasReadInTheLastMinutes(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site()
	one, err := w.CounterSite()
	s.Must(err)
	viewCounter := counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{})
	at := func(page string, visitor uint64, ago time.Duration) counter.Hit {
		return counter.Hit{
			Site: one, Page: page, Kind: counter.View, Visitor: counter.Visitor{Hash: visitor},
			At: time.Now().Add(-ago),
		}
	}
	_, err = viewCounter.Count(t.Context(),
		[]counter.Hit{
			at("/before", 1, 10*time.Minute), at("/before", 2, 10*time.Minute),
			at("/before", 3, 10*time.Minute),
			at("/now", 1, 10*time.Minute), at("/now", 2, 10*time.Minute), at("/now", 3, 0),
		})
	s.Must(err)
	s.Must(viewCounter.Aggregate(t.Context()))
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/sites/"+w.ID.String()+"/live", http.NoBody)
	s.Must(err)
	r.Header.Set("Authorization", "Bearer "+s.Token)
	stream, err := s.client.Do(r)
	s.Must(err)
	defer func() { _ = stream.Body.Close() }()
	var list spec.PageStatsList
	for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			s.Must(json.Unmarshal([]byte(data), &list))
			break
		}
	}
	if len(list.Pages) != 1 || list.Pages[0].Recent == nil {
		t.Fatalf("got %+v, want one page with recent views", list.Pages)
	}
	if got, want := fmt.Sprint(list.Pages[0].Page, *list.Pages[0].Recent, list.Pages[0].Views), fmt.Sprint("/now", 1,
		3); got != want {
		t.Errorf("page, recent and all views: got %s, want %s", got, want)
	}
}

// withoutAreas returns a server of which counting and the crawler are disabled.
func (s *server) withoutAreas() *api.Server {
	out := &api.Server{
		Settings: api.Settings{
			MaxBodyBytes: maxBody, Log: slog.New(slog.DiscardHandler),
			Page: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "") }),
		},
		Identity: api.Identity{
			MemberHandler:    api.MemberHandler{Store: s.Store.Identity.Workspaces, People: s.People},
			SessionHandler:   api.SessionHandler{Login: s.Login},
			WorkspaceHandler: api.WorkspaceHandler{Store: s.Store.Identity.Workspaces, People: s.People},
		},
	}
	out.MediaHandler.Media = s.Media
	return out
}

// If the crawler is disabled, everything that needs articles says so.
func TestNews_Disabled(t *testing.T) {
	t.Parallel()
	s := start(t)
	h, err := s.withoutAreas().Handler()
	s.Must(err)
	for path, method := range map[string]string{
		"/api/v1/seeds": "GET", "/api/v1/domains/news.example/pause": "POST", "/api/v1/articles": "GET",
		"/api/v1/search?q=a": "GET", "/api/v1/rules": "GET", "/api/v1/watches": "GET", "/api/v1/stories": "GET",
		"/api/v1/articles/" + uuid.NewString(): "GET", "/api/v1/saved-searches": "GET",
	} {
		r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
		r.Header.Set("Authorization", "Bearer "+s.Token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), `"crawl_off"`) {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/workspace", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+s.Token)
	if got := serve(t, h, r); got != http.StatusOK {
		t.Errorf("the workspace: %d", got)
	}
}

// If counting is disabled, its routes do not exist.
func TestViews_Disabled(t *testing.T) {
	t.Parallel()
	s := start(t)
	h, err := s.withoutAreas().Handler()
	s.Must(err)
	for path, method := range map[string]string{
		"/v1/view": "POST", "/v1/d.js": "GET", "/api/v1/sites": "GET",
		"/api/v1/trending": "GET", "/api/v1/posts/" + uuid.NewString() + "/stats": "GET",
	} {
		r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
		r.Header.Set("Authorization", "Bearer "+s.Token)
		if got := serve(t, h, r); got != http.StatusNotFound && got != http.StatusMethodNotAllowed {
			t.Errorf("%s %s: %d", method, path, got)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/workspace", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+s.Token)
	if got := serve(t, h, r); got != http.StatusOK {
		t.Errorf("another route: got %d", got)
	}
}
