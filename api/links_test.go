package api_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
)

const linksPath = "/api/v1/links"

// byHeader distinguishes readers by a header and classifies those named bot as bots.
type byHeader struct{}

func (byHeader) Classify(_ context.Context, r *http.Request, _ counter.Site) (h counter.Hit, reason string, err error) {
	if strings.Contains(r.UserAgent(), "bot") {
		return h, "bot", nil
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(r.Header.Get("X-Reader")))
	h.Visitor.Hash = sum.Sum64()
	return h, "", nil
}

func (s *server) link(body object, headers ...string) (l spec.Link) {
	s.t.Helper()
	s.decode(s.send("POST", linksPath, body, headers...), 201, &l)
	return l
}

// click requests a short link.
func (s *server) click(method, code, reader string, headers ...string) answer {
	s.t.Helper()
	return s.send(method, "/l/"+code, nil,
		append([]string{"Authorization", "", "X-Reader", reader, "User-Agent", "Mozilla/5.0"}, headers...)...)
}

func TestLinks_RedirectAndCount(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Schedule()
	const url = "https://news.example/flood?a=b&c=%20d#e"
	a := s.send("POST", linksPath, object{"url": url, "title": "Flood", "post_id": p.ID})
	var made spec.Link
	s.decode(a, 201, &made)
	got := fmt.Sprint(a.Header.Get("Location"), made.ShortUrl, made.Url, made.Title, *made.PostId, made.Disabled)
	if want := fmt.Sprint(linksPath+"/"+made.Code, "https://go.example/l/"+made.Code, url, "Flood", p.ID,
		false); got != want {
		t.Errorf("link: got %s, want %s", got, want)
	}
	for i := range 5 {
		got := s.click("GET", made.Code, fmt.Sprint("reader ", i%3)) // two repeat
		if got.StatusCode != http.StatusFound || got.Header.Get("Location") != url ||
			got.Header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s %v", got.Status, got.Header)
		}
	}
	// Previews are redirected without being counted.
	for _, got := range []answer{
		s.click("HEAD", made.Code, "a"),
		s.click("GET", made.Code, "b", "User-Agent", "Twitterbot/1.0"),
	} {
		if got.StatusCode != http.StatusFound || got.Header.Get("Location") != url {
			t.Errorf("%s %v", got.Status, got.Header)
		}
	}
	s.flush()
	var read spec.Link
	s.decode(s.send("GET", linksPath+"/"+made.Code, nil), 200, &read)
	if read.Clicks != 3 {
		t.Errorf("%d clicks by three readers", read.Clicks)
	}
	all, err := s.Store.Audience.Views.ViewTotals(t.Context(), []counter.PageID{{Site: s.Workspace.ID, Page: p.ID.String()}})
	if s.Must(err); all[counter.PageID{Site: s.Workspace.ID, Page: p.ID.String()}].Clicks != 3 {
		t.Errorf("the post's links: %+v", all)
	}
	if n := s.Count("select funnel_clicks from view_pages where page = $1", p.ID.String()); n != 3 {
		t.Errorf("%d in the post's funnel", n)
	}
	// The preview bot's request is recorded as filtered, by link and by post.
	for _, page := range []string{"link/" + made.Code, p.ID.String()} {
		if n := s.Count("select coalesce(sum(f.count), 0) from view_filtered f join view_pages p on p.id = f.page_id "+
			"where p.page = $1 and reason = 'bot'", page); n != 1 {
			t.Errorf("%d clicks on %s were filtered as a bot's, want 1", n, page)
		}
	}
	if strings.Contains(s.log.String(), "news.example") {
		t.Error("the log contains the target of a link")
	}
}

func TestLinks_TargetComesFromRow(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, url := range []string{
		"javascript:alert(1)", "//evil.example", "https://user@bank.example",
		"ftp://a.example", "https:a", "/l/0123456789", "https://a.example\r\nX: y", " https://a.example", "https://",
	} {
		s.refused(s.send("POST", linksPath, object{"url": url}), 422, "invalid_request", "url")
	}
	l := s.link(object{"url": "https://news.example/a"})
	s.refused(s.send("POST", linksPath, object{"url": l.ShortUrl}), 422, "invalid_request", "url")
	// No part of the request is reflected in the response.
	got := s.click("GET", l.Code+"?url=https://evil.example&next=//evil.example", "a", "X-Forwarded-Host",
		"evil.example")
	if got.Header.Get("Location") != "https://news.example/a" || strings.Contains(string(got.body), "evil") {
		t.Errorf("%v %s", got.Header, got.body)
	}
	for _, code := range []string{
		"0000000000", "short", l.Code + "x", "%2e%2e%2fapi", strings.Repeat("a", 90),
		"https:%2f%2fevil.example",
	} {
		if got := s.click("GET", code, "a"); got.StatusCode != http.StatusNotFound || got.Header.Get("Location") != "" {
			t.Errorf("%s: %s %v", code, got.Status, got.Header)
		}
	}
}

func TestLinks_Disabled(t *testing.T) {
	t.Parallel()
	s := start(t)
	l := s.link(object{"url": "https://news.example/a"})
	path := linksPath + "/" + l.Code
	var changed spec.Link
	s.decode(s.send("POST", path+"/disable", nil), 200, &changed)
	if !changed.Disabled {
		t.Errorf("%+v", changed)
	}
	s.refused(s.click("GET", l.Code, "a"), 410, "link_disabled")
	other := s.link(object{"url": "https://news.example/b"})
	s.decode(s.send("POST", linksPath+"/"+other.Code+"/disable", nil), 200, &changed)
	s.decode(s.send("POST", linksPath+"/"+other.Code+"/enable", nil), 200, &changed)
	if got := s.click("GET", other.Code, "a"); changed.Disabled || got.StatusCode != http.StatusFound {
		t.Errorf("%+v, %s", changed, got.Status)
	}
	s.refused(s.send("POST", linksPath+"/0000000000/disable", nil), 404, "link_not_found")
}

func TestLinks_IdempotencyAndPaging(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := object{"url": "https://news.example/a"}
	first, again := s.link(body, "Idempotency-Key", "k"), s.link(body, "Idempotency-Key", "k")
	if first.Code != again.Code || s.link(body).Code == first.Code {
		t.Errorf("%s and %s", first.Code, again.Code)
	}
	s.Connect("desk")
	p := s.Schedule()
	for range 4 {
		s.link(object{"url": "https://news.example/b", "post_id": p.ID})
	}
	seen := map[string]bool{}
	query := "?limit=4"
	for pages := 1; ; pages++ {
		var list spec.LinkList
		s.decode(s.send("GET", linksPath+query, nil), 200, &list)
		for _, l := range list.Links {
			seen[l.Code] = true
		}
		if list.NextCursor == nil {
			if pages != 2 || len(seen) != 6 {
				t.Errorf("%d links on %d pages", len(seen), pages)
			}
			break
		}
		query = "?limit=4&cursor=" + *list.NextCursor
	}
	s.refused(s.send("GET", linksPath+"?cursor=%00", nil), 422, "invalid_request", "cursor")
	s.refused(s.send("GET", linksPath+"/%00", nil), 422, "invalid_request", "code")
	var list spec.LinkList
	s.decode(s.send("GET", linksPath+"?post="+p.ID.String(), nil), 200, &list)
	if len(list.Links) != 4 {
		t.Errorf("%d links of the post", len(list.Links))
	}
	s.refused(s.send("POST", linksPath, object{"url": "https://a.example", "post_id": uuid.New()}), 404,
		"post_not_found")
}

func TestTrackedLinks_ExistBeforePublishing(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk, sport := s.Connect("desk"), s.Connect("sport")
	text := "Read https://news.example/flood now"
	p := s.post(s.send("POST", "/api/v1/posts",
		hello(object{"content": text, "track_links": true, "accounts": []any{desk.ID, sport.ID}})), 201)
	if p.Content != text || p.TrackLinks == nil || !*p.TrackLinks {
		t.Errorf("%+v", p)
	}
	list := func() (all map[uuid.UUID]spec.Link) {
		t.Helper()
		var page spec.LinkList
		s.decode(s.send("GET", linksPath+"?post="+p.Id.String(), nil), 200, &page)
		all = map[uuid.UUID]spec.Link{}
		for _, l := range page.Links {
			all[*l.AccountId] = l
		}
		if len(all) != len(page.Links) {
			t.Errorf("%+v", page.Links)
		}
		return all
	}
	made := list()
	if len(made) != 2 || made[desk.ID].Code == made[sport.ID].Code ||
		made[desk.ID].Url != "https://news.example/flood" || *made[desk.ID].Network != "mastodon" {
		t.Fatalf("%+v", made)
	}
	if got := s.click("GET", made[sport.ID].Code, "a"); got.Header.Get("Location") != "https://news.example/flood" {
		t.Errorf("%s %v", got.Status, got.Header)
	}
	stored, err := s.Store.Publishing.Posts.Post(t.Context(), p.Id)
	s.Must(err)
	for _, target := range stored.Targets {
		if want := "Read " + made[target.AccountID].ShortUrl + " now"; stored.Segments(target)[0].Content != want {
			t.Errorf("%q is sent, want %q", stored.Segments(target)[0].Content, want)
		}
	}
	// An edit shortens the links of its text; an override's text has links of its own.
	edited := s.post(s.send("PATCH", "/api/v1/posts/"+p.Id.String(), object{
		"accounts":  []any{desk.ID},
		"overrides": object{desk.ID.String(): object{"content": "Elsewhere: https://other.example/x"}},
	}), 200)
	if *edited.TrackLinks != true ||
		s.Count("select count(*) from links where post_id = $1 and url = 'https://other.example/x'", p.Id) != 1 {
		t.Errorf("%+v", edited)
	}
	off := s.post(s.send("PATCH", "/api/v1/posts/"+p.Id.String(), object{"track_links": false}), 200)
	stored, err = s.Store.Publishing.Posts.Post(t.Context(), p.Id)
	if s.Must(err); off.TrackLinks != nil ||
		stored.Segments(stored.Targets[0])[0].Content != "Elsewhere: https://other.example/x" {
		t.Errorf("%+v", stored)
	}
	on := s.post(s.send("PATCH", "/api/v1/posts/"+p.Id.String(), object{"track_links": true}), 200)
	if on.TrackLinks == nil {
		t.Error("the link is not tracked after the edit")
	}
}

// The network's limit applies to the text with its short links, which is what is sent.
func TestTrackedLinks_TextLength(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	long := "https://news.example/" + strings.Repeat("a", 900)
	var plain, tracked spec.PostPreview
	s.decode(s.send("POST", "/api/v1/posts/preview", hello(object{"content": long})), 200, &plain)
	s.decode(s.send("POST", "/api/v1/posts/preview", hello(object{"content": long, "track_links": true})), 200,
		&tracked)
	if text := tracked.Targets[0].Segments[0].Text; !strings.HasPrefix(text, "https://go.example/l/") {
		t.Errorf("the preview shows %q", text)
	}
}

func TestTrackedLinks_BulkAndSeries(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	at := in(time.Hour)
	for _, sheet := range []struct{ kind, body string }{
		{"application/x-ndjson", `{"content": "https://news.example/1", "track_links": true, "scheduled_time": "` + at +
			`"}` + "\n" + `{"content": "https://news.example/2", "scheduled_time": "` + at + `"}`},
		{"text/csv", "content,scheduled_time,track_links\nhttps://news.example/3," + at +
			",true\nhttps://news.example/4," + at + ",\n"},
	} {
		if a := s.send("POST", "/api/v1/posts/bulk", strings.NewReader(sheet.body), "Content-Type",
			sheet.kind); a.StatusCode != http.StatusCreated {
			t.Errorf("%s: %s", a.Status, a.body)
		}
	}
	if a := s.send("POST", "/api/v1/series",
		object{
			"rule": "FREQ=DAILY;COUNT=3", "starts": time.Now().AddDate(0, 0, 2).Format("2006-01-02T15:04:05"),
			"template": object{
				"content":     "https://news.example/series",
				"track_links": true,
			},
		}); a.StatusCode != http.StatusCreated {
		t.Errorf("%s: %s", a.Status, a.body)
	}
	if n := s.Count("select count(*) from links where url in ('https://news.example/1', " +
		"'https://news.example/3')"); n != 2 {
		t.Errorf("%d links of imported posts", n)
	}
	if n := s.Count("select count(distinct code) from links where url = 'https://news.example/series'"); n != 3 {
		t.Errorf("%d links of the series", n)
	}
	if n := s.Count("select count(*) from links"); n != 5 {
		t.Errorf("%d links in all", n)
	}
}
