package api_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/news/search"
	"dateline/internal/news/search/indexer"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/testing/searchtest"
)

const searchPath, savedPath = "/api/v1/search", "/api/v1/saved-searches"

// publish stores and indexes articles of the set, of domains on which the workspace has
// seeds.
func (s *server) publish(keys ...string) {
	s.t.Helper()
	all, err := searchtest.Articles()
	s.Must(err)
	for _, key := range keys {
		searchtest.Store(s.Newsroom, all[key], time.Now().Add(time.Minute))
	}
	_, err = s.indexer().Sync(s.t.Context(), func(int) {})
	s.Must(err)
}

// indexer indexes articles like the worker.
func (s *server) indexer() *indexer.Indexer {
	log := slog.New(slog.DiscardHandler)
	return &indexer.Indexer{
		Store: s.Store.News.Searches, Engine: pgsearch.New(s.Store.Pool(), pgsearch.Options{Log: log}),
		Events: s.Bus, Log: log,
	}
}

func TestSearchRebuild_ReportsProgressAndCanBeCanceled(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 150 { // more than one batch
		key := fmt.Sprint("a", i)
		searchtest.Store(s.Newsroom, search.Document{
			ID: searchtest.ID(key), Title: "Needle", URL: "https://news.example/" + key, Domain: "news.example",
			Published: time.Now(),
		}, time.Now())
	}
	const path = "/api/v1/search/rebuild"
	rebuild := func(method string, status int) (r spec.SearchRebuild) {
		t.Helper()
		s.decode(s.send(method, path, nil), status, &r)
		return r
	}
	want := func(what string, r spec.SearchRebuild, status spec.SearchRebuildStatus, done, total int64) {
		t.Helper()
		if r.Status != status || r.Progress == nil || r.Progress.Done != done || total > 0 &&
			(r.Progress.Total == nil || *r.Progress.Total != total) || total == 0 && r.Progress.Total != nil {
			t.Errorf("%s: got %s, %+v, want %s, %d of %d", what, r.Status, r.Progress, status, done, total)
		}
	}
	if r := rebuild("GET", 200); r.Status != spec.SearchRebuildStatusNone || r.Progress != nil {
		t.Errorf("before: got %+v, want none", r)
	}
	want("requested", rebuild("POST", 202), spec.SearchRebuildStatusPending, 0, 0)
	canceled := false
	n, err := s.indexer().Reindex(t.Context(), indexer.Progress{}, func(at indexer.Progress) {
		if at.Articles == 100 && !canceled {
			canceled = true
			want("running", rebuild("GET", 200), spec.SearchRebuildStatusRunning, 0, 150)
			want("requested again", rebuild("POST", 202), spec.SearchRebuildStatusRunning, 0, 150)
			want("canceled", rebuild("DELETE", 200), spec.SearchRebuildStatusCanceled, 0, 150)
		}
	})
	s.Must(err)
	if n != 100 || s.Count("select count(*) from search_rebuild") != 0 {
		t.Errorf("the canceled rebuild indexed %d articles, want 100, and no index to write changes to", n)
	}
	if r := rebuild("GET", 200); r.Status != spec.SearchRebuildStatusCanceled || r.FinishedAt == nil {
		t.Errorf("after the cancellation: got %+v", r)
	}
	if _, err := s.indexer().Reindex(t.Context(), indexer.Progress{}, func(indexer.Progress) {
		t.Error("a canceled rebuild was started")
	}); err != nil {
		t.Error(err)
	}
	rebuild("POST", 202)
	_, err = s.indexer().Reindex(t.Context(), indexer.Progress{}, func(indexer.Progress) {})
	s.Must(err)
	want("done", rebuild("GET", 200), spec.SearchRebuildStatusDone, 150, 150)
	want("canceled after its end", rebuild("DELETE", 200), spec.SearchRebuildStatusDone, 150, 150)
	s.temporal.down = errors.New("down")
	if a := s.send("POST", path, nil); a.StatusCode < 500 {
		t.Errorf("without Temporal: got %d", a.StatusCode)
	}
	if r := rebuild("GET", 200); r.Status != spec.SearchRebuildStatusCanceled {
		t.Errorf("without Temporal: got %s, want canceled", r.Status)
	}
}

func TestSearch_FindsArticles(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publish("vang", "vang2", "trangsuc", "xang", "wc")
	// Another workspace crawls another site: its articles are not in this one.
	s.Must(pgsearch.New(s.Store.Pool(), pgsearch.Options{Log: slog.New(slog.DiscardHandler)}).Index(t.Context(),
		[]search.Document{
			{
				ID: searchtest.ID("theirs"), Version: 1, Title: "Giá vàng của người khác", Domain: "theirs.example",
				Published: time.Now(),
			},
		}))
	var a spec.SearchResponse
	s.decode(s.send("GET", searchPath+"?q=gia+vang&facets=true", nil), 200, &a)
	require.Equal(t, 3, a.Total)
	require.False(t, a.SemanticAvailable)
	require.Equal(t, "Cô dâu chọn trang sức cưới thế nào", a.Hits[2].Title)
	require.Equal(t, "Giá vàng SJC lập kỷ lục mới, vượt 90 triệu đồng mỗi lượng", a.Hits[0].Title)
	require.Equal(t, "Giá vàng", a.Hits[0].Heading[0].Text)
	require.True(t, a.Hits[0].Heading[0].Match)
	require.NotNil(t, a.Facets)
	var page spec.SearchResponse
	s.decode(s.send("GET", searchPath+"?limit=3", nil), 200, &page)
	if len(page.Hits) != 3 || page.Total != 5 || page.NextCursor == nil ||
		page.Hits[0].PublishedAt.Before(page.Hits[2].PublishedAt) {
		t.Errorf("%+v", page)
	}
	var rest spec.SearchResponse
	s.decode(s.send("GET", searchPath+"?limit=3&cursor="+*page.NextCursor, nil), 200, &rest)
	if len(rest.Hits) != 2 || rest.NextCursor != nil {
		t.Errorf("%+v", rest)
	}
	for query, want := range map[string]int{
		"domain=tinsang.example": 2, "domain=theirs.example": 0, "section=Sport": 1,
		"tag=gi%C3%A1+v%C3%A0ng&tag=football": 3, "author=Leo+Marsh": 1, "language=en": 1,
		"from=2026-11-18T00:00:00Z&q=v%C3%A0ng&sort=time": 1, "q=v%C3%A0ng+-SJC&mode=keyword": 1,
	} {
		s.decode(s.send("GET", searchPath+"?"+query, nil), 200, &a)
		if a.Total != want {
			t.Errorf("%s: %d, want %d", query, a.Total, want)
		}
	}
	s.decode(s.send("GET", searchPath+"?q=wolrd+cup", nil), 200, &a)
	if a.Total != 1 || (*a.Corrected)["wolrd"][0] != "world" {
		t.Errorf("%+v", a)
	}
	s.refused(s.send("GET", searchPath+"?cursor=1001", nil), 422, "invalid_request", "cursor")
	s.refused(s.send("GET", searchPath+"?q="+strings.Repeat("x", 501), nil), 400, "invalid_request", "q")
}

func TestSavedSearch_CreateUpdateDelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	var made spec.SavedSearch
	a := s.send("POST", savedPath, object{
		"name": " Gold ", "query": "giá vàng", "domains": []string{"baomai.example"},
		"alert": true,
	}, "Idempotency-Key", "k")
	s.decode(a, 201, &made)
	require.Equal(t, "Gold", made.Name)
	require.True(t, made.Alert)
	require.False(t, made.Feed)
	require.Equal(t, `"1"`, a.Header.Get("ETag"))
	require.Equal(t, savedPath+"/"+made.Id.String(), a.Header.Get("Location"))
	if again := s.send("POST", savedPath,
		object{"name": " Gold ", "query": "giá vàng", "domains": []string{"baomai.example"}, "alert": true},
		"Idempotency-Key", "k"); again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeated: %s", again.body)
	}
	path := savedPath + "/" + made.Id.String()
	s.decode(s.send("PATCH", path, object{"query": "vàng"}, "If-Match", `"1"`), 200, &made)
	if made.Query != "vàng" || len(made.Domains) != 1 {
		t.Errorf("%+v", made)
	}
	s.refused(s.send("PATCH", path, object{"alert": false}, "If-Match", `"1"`), 412, "version_mismatch")
	s.refused(s.send("POST", savedPath, object{"name": "Everything", "alert": true}), 422, "invalid_request", "query")
	s.refused(s.send("POST", savedPath, object{"name": "  "}), 422, "invalid_request", "name")
	if made.Mode != spec.SearchModeKeyword {
		t.Errorf("got the sort order %s", made.Mode)
	}
	// Alerts match words only.
	s.refused(s.send("PATCH", path, object{"mode": "semantic"}), 422, "invalid_request", "alert")
	s.refused(s.send("PATCH", path, object{"mode": "vibes"}), 400, "invalid_request")
	s.decode(s.send("PATCH", path, object{"mode": "hybrid"}), 200, &made)
	if made.Mode != spec.SearchModeHybrid || !made.Alert {
		t.Errorf("%+v", made)
	}
	s.decode(s.send("PATCH", path, object{"mode": "semantic", "alert": false}), 200, &made)
	s.decode(s.send("GET", path, nil), 200, &made)
	if made.Mode != spec.SearchModeSemantic || made.Alert {
		t.Errorf("%+v", made)
	}
	var list spec.SavedSearchList
	s.decode(s.send("GET", savedPath, nil), 200, &list)
	if len(list.SavedSearches) != 1 {
		t.Errorf("%d are stored", len(list.SavedSearches))
	}
	if a := s.send("DELETE", path, nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("%s", a.Status)
	}
	s.refused(s.send("GET", path, nil), 404, "saved_search_not_found")
}

// The matches of a saved search are listed for its workspace.
func TestSavedSearches_ListMatches(t *testing.T) {
	t.Parallel()
	s := start(t)
	var made spec.SavedSearch
	s.decode(s.send("POST", savedPath, object{"name": "Gold", "query": "giá vàng", "alert": true}), 201, &made)
	path := savedPath + "/" + made.Id.String()
	var m spec.SavedSearchMatches
	s.decode(s.send("GET", path+"/matches", nil), 200, &m)
	if len(m.Matches) != 0 || m.Matches == nil {
		t.Errorf("before anything was found: %+v", m)
	}
	s.publish("vang", "vang2", "wc")
	var titles []string
	for next := ""; ; next = "&cursor=" + m.NextCursor.String() {
		m = spec.SavedSearchMatches{}
		s.decode(s.send("GET", path+"/matches?limit=1"+next, nil), 200, &m)
		for _, one := range m.Matches {
			titles = append(titles, one.Title)
		}
		if m.NextCursor == nil {
			break
		}
	}
	if len(titles) != 2 || titles[0] == titles[1] || !strings.Contains(titles[0]+titles[1], "Giá vàng SJC") {
		t.Errorf("%q", titles)
	}
	s.decode(s.send("GET", path, nil), 200, &made)
	var list spec.SavedSearchList
	s.decode(s.send("GET", savedPath, nil), 200, &list)
	if made.AlertCount != 2 || made.LastAlertedAt == nil || made.Version != 1 || list.SavedSearches[0].AlertCount != 2 {
		t.Errorf("%+v %+v", made, list)
	}
	_, _, token := s.Found("Rivals")
	s.refused(s.send("GET", path+"/matches", nil, "Authorization", "Bearer "+token), 404, "saved_search_not_found")
}

// A feed URL contains its secret: it needs no login until it is revoked.
func TestFeed_IsReadBySecretURL(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publish("vang", "vang2", "wc")
	var made spec.SavedSearch
	s.decode(s.send("POST", savedPath, object{"name": "Gold & <b>more</b>", "query": "giá vàng"}), 201, &made)
	path := savedPath + "/" + made.Id.String()
	var feeds spec.FeedURLs
	s.decode(s.send("POST", path+"/feed", nil), 201, &feeds)
	local := func(address string) string { return address[strings.Index(address, "/api/"):] }
	for _, address := range []string{feeds.Rss, feeds.JsonFeed} {
		a := s.send("GET", local(address), nil, "Authorization", "")
		read, err := searchtest.ReadFeed(a.body)
		require.Equal(t, http.StatusOK, a.StatusCode, "%s %v %s", a.Status, err, a.body)
		require.NoError(t, err, "%s %v %s", a.Status, err, a.body)
		require.Equal(t, "Gold & <b>more</b>", read.Title, "%s %v %s", a.Status, err, a.body)
		require.Len(t, read.Items, 2, "%s %v %s", a.Status, err, a.body)
		require.Equal(t, "https://baomai.example/vang", read.Items[0].Link, "%s %v %s", a.Status, err, a.body)
		if again := s.send("GET", local(address), nil, "Authorization", "", "If-None-Match",
			a.Header.Get("ETag")); again.StatusCode != http.StatusNotModified || len(again.body) != 0 {
			t.Errorf("second read: %s", again.Status)
		}
	}
	token := feeds.Rss[strings.Index(feeds.Rss, "token=")+6:]
	if strings.Contains(s.log.String(), token) ||
		s.Count("select count(*) from saved_searches where encode(feed_hash, 'escape') like '%' || $1 || '%'",
			token) != 0 {
		t.Error("the token is stored or logged in plain text")
	}
	s.refused(s.send("GET", local(feeds.Rss)+"x", nil, "Authorization", ""), 404, "feed_not_found")
	s.refused(s.send("GET", strings.Replace(local(feeds.Rss), made.Id.String(), "0192f1a0-7c00-7000-8000-000000000001",
		1), nil, "Authorization", ""), 404, "feed_not_found")
	var renewed spec.FeedURLs
	s.decode(s.send("POST", path+"/feed", nil), 201, &renewed)
	s.refused(s.send("GET", local(feeds.Rss), nil, "Authorization", ""), 404, "feed_not_found")
	if a := s.send("GET", local(renewed.Rss), nil, "Authorization", ""); a.StatusCode != http.StatusOK {
		t.Errorf("renewed: %s", a.Status)
	}
	if a := s.send("DELETE", path+"/feed", nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("%s", a.Status)
	}
	s.refused(s.send("GET", local(renewed.JsonFeed), nil, "Authorization", ""), 404, "feed_not_found")
}

// When the database is overloaded, searches are rejected early with Retry-After.
func TestSearch_ReturnsRetryAfterWhenBusy(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publish("vang")
	tx, err := s.Store.Pool().Begin(t.Context())
	s.Must(err)
	_, err = tx.Exec(t.Context(), "lock table search_documents in access exclusive mode")
	s.Must(err)
	a := s.send("GET", searchPath+"?q=gia+vang", nil)
	if s.refused(a, 503, "search_busy"); a.Header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
	}
	s.Must(tx.Rollback(t.Context()))
	var found spec.SearchResponse
	s.decode(s.send("GET", searchPath+"?q=gia+vang", nil), 200, &found)
	if found.Total != 1 || found.Partial {
		t.Errorf("%+v", found)
	}
}
