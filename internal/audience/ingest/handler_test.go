package ingest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/site"
)

// A hit is visible as soon as it is acknowledged, for each way of sending it.
func TestHandler_CountsHits(t *testing.T) {
	d := open(t)
	s, _ := d.Site(func(s *site.Site) { s.Domains = []string{"news.example"} })
	count := func() string { return d.send("GET", "/v1/count.json"+query("site", s.WriteKey, "page", "/a"), "").body }
	body := `{"site":"` + s.WriteKey +
		`","url":"https://news.example/a/?utm_source=x#top","referrer":"https://l.facebook.com/l.php"}`
	for i, send := range []func(address string) answer{
		func(a string) answer { return d.send("POST", "/v1/view", body, "X-Forwarded-For", a) },
		func(a string) answer {
			return d.send("POST", "/v1/view", body, "X-Forwarded-For", a, "Content-Type", "text/plain;charset=UTF-8",
				"Origin", "https://m.news.example")
		},
		func(a string) answer {
			return d.send("POST", "/v1/event", strings.Replace(body, "{", `{"type":"view",`, 1), "X-Forwarded-For", a)
		},
		func(a string) answer {
			return d.send("GET", "/v1/pixel.gif"+query("site", s.WriteKey), "", "X-Forwarded-For", a, "Referer",
				"https://news.example/a")
		},
	} {
		for range 2 { // the second is a duplicate within the window
			if a := send(fmt.Sprintf("203.0.113.%d", i+1)); a.StatusCode != http.StatusAccepted &&
				a.Header.Get("Content-Type") != "image/gif" {
				t.Errorf("hit %d: got %s %s, want 202", i, a.Status, a.body)
			}
			if want := fmt.Sprintf(`{"page":"/a","views":%d}`, i+1); strings.TrimSpace(count()) != want {
				t.Errorf("%d: got the count %s, want %s", i, count(), want)
			}
		}
	}
	for _, kind := range []string{"click", "conversion"} {
		if a := d.send("POST", "/v1/event",
			strings.Replace(body, "{", `{"type":"`+kind+`",`, 1)); a.StatusCode != http.StatusAccepted {
			t.Errorf("%s %s", a.Status, a.body)
		}
	}
	got := d.stats(s, "/a")
	if got.Views != 4 || got.Clicks != 1 || got.Conversions != 1 || got.Uniques.Day != 4 {
		t.Errorf("%+v", got)
	}
	v, err := s.CounterSite()
	d.Must(err)
	dimensions, err := d.Counter.Dimensions(t.Context(), v, "/a")
	d.Must(err)
	if dimensions.Device["desktop"] != 4 || dimensions.Referrer["facebook.com"] != 3 {
		t.Errorf("%+v", dimensions)
	}
	badge := d.send("GET", "/v1/badge.svg"+query("site", s.WriteKey, "page", "/a", "label", `Lượt <xem> & "more"`), "")
	if badge.Header.Get("Content-Type") != "image/svg+xml" ||
		!strings.Contains(badge.body, "<title>Lượt &lt;xem&gt; &amp; &#34;more&#34;: 4</title>") {
		t.Errorf("%s", badge.body)
	}
	badge = d.send("GET", "/v1/badge.svg"+query("site", s.WriteKey, "page", "/a", "lang", "vi"), "")
	if !strings.Contains(badge.body, "<title>lượt xem: 4</title>") {
		t.Errorf("%s", badge.body)
	}
	script := d.send("GET", "/v1/count.js"+query("site", s.WriteKey, "url", "https://news.example/a"), "")
	if !strings.HasPrefix(script.Header.Get("Content-Type"), "text/javascript") ||
		!strings.Contains(script.body, "(4)") {
		t.Errorf("%s", script.body)
	}
}

// Filtered hits are counted by reason, and not as views.
func TestHandler_FiltersHits(t *testing.T) {
	d := open(t)
	s, _ := d.Site()
	for reason, headers := range map[botfilter.Reason][]string{
		botfilter.Crawler: {"User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
		botfilter.Preview: {"User-Agent", "WhatsApp/2.23.20.0"},
		botfilter.Headless: {
			"User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) " +
				"HeadlessChrome/120.0.0.0 Safari/537.36",
		},
		botfilter.NoBrowser: {"User-Agent", "Mozilla/5.0"}, botfilter.Prefetch: {"Sec-Purpose", "prefetch;prerender"},
		botfilter.NoLanguage: {"Accept-Language", ""}, botfilter.DataCenter: {"CF-Worker", "x.example"},
		botfilter.OptOut: {"Sec-GPC", "1"},
	} {
		d.view(s, "/a", headers...)
		d.view(s, "/a", append(headers, "X-Forwarded-For", "203.0.113.8")...)
		if got := d.filtered(s, "/a"); got[string(reason)] != 2 {
			t.Errorf("%s: %v", reason, got)
		}
	}
	if a := d.send("POST", "/v1/view",
		`{"site":"`+s.WriteKey+`","page":"/a","webdriver":true}`); a.StatusCode != http.StatusAccepted {
		t.Errorf("%s %s", a.Status, a.body)
	}
	d.view(s, "/a", "Cookie", "dateline_optout=1")
	got := d.filtered(s, "/a")
	if got["automation"] != 1 || got["opt_out"] != 3 {
		t.Errorf("%v", got)
	}
	if stats := d.stats(s, "/a"); stats.Views != 0 || stats.Uniques.AllTime != 0 {
		t.Errorf("%+v", stats)
	}
}

// A reader above the site's rate limit is filtered; others are not affected.
func TestHandler_RateLimit(t *testing.T) {
	d := open(t)
	s, _ := d.Site(func(s *site.Site) { s.RateHits, s.RateSeconds = 3, 3600 })
	for i := range 10 {
		d.view(s, fmt.Sprint("/", i))
	}
	d.view(s, "/0", "X-Forwarded-For", "203.0.113.8")
	views, refused := int64(0), int64(0)
	for i := range 10 {
		page := fmt.Sprint("/", i)
		views += d.stats(s, page).Views
		refused += d.filtered(s, page)["rate"]
	}
	if views != 4 || refused != 7 {
		t.Errorf("got %d views and %d filtered", views, refused)
	}
}

func TestHandler_ErrorsNameTheField(t *testing.T) {
	d := open(t)
	s, secret := d.Site(func(s *site.Site) { s.Domains = []string{"news.example"}; s.PublicCounts = false })
	bitmap, _ := d.Site(func(s *site.Site) { s.UniqueMethod, s.MaxID = counter.Bitmap, 1000 })
	right := `{"site":"` + s.WriteKey + `","page":"/a"`
	const post, view, event, batch = "POST", "/v1/view", "/v1/event", "/v1/batch"
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code, field              string
	}{
		{"empty", post, view, "", nil, 400, "invalid_request", "body"},
		{"no JSON", post, view, "page=/a", nil, 400, "invalid_request", "body"},
		{"null", post, view, "null", nil, 400, "invalid_request", "body"},
		{"a list", post, view, "[]", nil, 400, "invalid_request", "body"},
		{"two documents", post, view, right + "}{}", nil, 400, "invalid_request", "body"},
		{"wrong type", post, view, `{"site":5}`, nil, 400, "invalid_request", "site"},
		{"unknown field", post, view, right + `,"colour":"red"}`, nil, 400, "invalid_request", "colour"},
		{
			"huge", post, view, right + `,"referrer":"` + strings.Repeat("x", 20<<10) + `"}`, nil, 413, "too_large",
			"body",
		},
		{
			"a form", post, view, "page=/a",
			[]string{"Content-Type", "application/x-www-form-urlencoded"},
			415,
			"unsupported_media_type", "Content-Type",
		},
		{"no site", post, view, `{"page":"/a"}`, nil, 422, "invalid_request", "site"},
		{"unknown site", post, view, `{"site":"dlw_x","page":"/a"}`, nil, 422, "invalid_request", "site"},
		{"no page", post, view, `{"site":"` + s.WriteKey + `"}`, nil, 422, "invalid_request", "page"},
		{
			"page of control characters", post, view, `{"site":"` + s.WriteKey + `","page":"a\u0000"}`, nil, 422,
			"invalid_request", "page",
		},
		{
			"invalid address", post, view, `{"site":"` + s.WriteKey + `","url":"https://[::1"}`, nil, 422,
			"invalid_request", "url",
		},
		{
			"long user", post, view, right + `,"user":"` + strings.Repeat("x", 201) + `"}`, nil, 422, "invalid_request",
			"user",
		},
		{
			"long visitor", post, view, right + `,"visitor":"` + strings.Repeat("x", 201) + `"}`, nil, 422,
			"invalid_request", "visitor",
		},
		{
			"long referrer", post, view, right + `,"referrer":"` + strings.Repeat("x", 4001) + `"}`, nil, 422,
			"invalid_request", "referrer",
		},
		{"type of a view", post, view, right + `,"type":"click"}`, nil, 422, "invalid_request", "type"},
		{"event without type", post, event, right + `}`, nil, 422, "invalid_request", "type"},
		{
			"foreign origin", post, view, right + `}`,
			[]string{"Origin", "https://evil.example"},
			403,
			"origin_not_allowed", "Origin",
		},
		{
			"origin with the same suffix", post, view, right + `}`,
			[]string{"Origin", "https://evilnews.example"},
			403,
			"origin_not_allowed", "Origin",
		},
		{"origin null", post, view, right + `}`, []string{"Origin", "null"}, 403, "origin_not_allowed", "Origin"},
		{
			"foreign page", "GET", "/v1/pixel.gif" + query("site", s.WriteKey, "page", "/a"), "",
			[]string{"Referer", "https://evil.example/x"},
			403, "origin_not_allowed", "Origin",
		},
		{
			"pixel without page", "GET", "/v1/pixel.gif" + query("site", s.WriteKey), "", nil, 422, "invalid_request",
			"page",
		},
		{
			"id that is not a number", post, view, `{"site":"` + bitmap.WriteKey + `","page":"/a","user":"anna"}`, nil,
			422, "invalid_request", "user",
		},
		{
			"id beyond the maximum", post, view, `{"site":"` + bitmap.WriteKey + `","page":"/a","user":"1001"}`, nil,
			422,
			"invalid_request", "user",
		},
		{
			"id of zero", post, view, `{"site":"` + bitmap.WriteKey + `","page":"/a","user":"0"}`, nil, 422,
			"invalid_request", "user",
		},
		{
			"count that is not public", "GET", "/v1/count.json" + query("site", s.WriteKey, "page", "/a"), "", nil, 422,
			"invalid_request", "site",
		},
		{
			"count without a page", "GET", "/v1/count.json" + query("site", bitmap.WriteKey), "", nil, 422,
			"invalid_request", "page",
		},
		{
			"long label", "GET", "/v1/badge.svg" + query("site", bitmap.WriteKey, "page", "/a", "label",
				strings.Repeat("x", 41)), "", nil, 422, "invalid_request", "label",
		},
		{
			"unknown language", "GET", "/v1/badge.svg" + query("site", bitmap.WriteKey, "page", "/a", "lang", "fr"),
			"", nil, 422, "invalid_request", "lang",
		},
		{"batch without key", post, batch, "[]", nil, 401, "secret_required", ""},
		{
			"batch with the write key", post, batch, "[]",
			[]string{"Authorization", "Bearer " + s.WriteKey},
			401,
			"secret_invalid", "",
		},
		{
			"empty batch", post, batch, "[]",
			[]string{"Authorization", "Bearer " + secret},
			422, "invalid_request",
			"body",
		},
		{
			"batch beyond the maximum", post, batch, strings.Repeat("{}\n", 1001),
			[]string{"Authorization", "Bearer " + secret, "Content-Type", "application/x-ndjson"},
			422,
			"invalid_request", "body",
		},
		{
			"batch that is not a list", post, batch, "{}",
			[]string{"Authorization", "Bearer " + secret},
			400,
			"invalid_request", "body",
		},
		{
			"batch as text", post, batch, "[]", []string{
				"Authorization", "Bearer " + secret, "Content-Type",
				"text/plain",
			}, 415, "unsupported_media_type", "Content-Type",
		},
		{"wrong method", "GET", view, "", nil, 405, "method_not_allowed", ""},
		{"nothing there", "GET", "/v1/views", "", nil, 404, "no_such_route", ""},
	} {
		d.expectProblem(c.name, d.send(c.method, c.path, c.body, c.headers...), c.status, c.code, c.field)
	}
	if got := d.stats(s, "/a"); got.Views != 0 {
		t.Errorf("a rejected view was counted: %+v", got)
	}
}

// Pages of the site's domains may send hits and read the response.
func TestHandler_Origins(t *testing.T) {
	d := open(t)
	s, _ := d.Site(func(s *site.Site) { s.Domains = []string{"News.Example", "báo.example"} })
	for origin, allowed := range map[string]bool{
		"https://news.example": true, "https://a.b.news.example:8443": true,
		"https://xn--bo-mia.example": true, "https://example": false, "https://news.example.evil.example": false,
	} {
		a := d.send("OPTIONS", "/v1/view", "", "Origin", origin, "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "content-type")
		if got := a.StatusCode == http.StatusNoContent && a.Header.Get("Access-Control-Allow-Origin") == origin &&
			a.Header.Get("Access-Control-Allow-Headers") == "Content-Type"; got != allowed {
			t.Errorf("%s may send: %v: %s %v", origin, got, a.Status, a.Header)
		}
		a = d.send("POST", "/v1/view", `{"site":"`+s.WriteKey+`","page":"/a"}`, "Origin", origin)
		if got := a.StatusCode == http.StatusAccepted &&
			a.Header.Get("Access-Control-Allow-Origin") == origin; got != allowed {
			t.Errorf("%s sent: %v: %s", origin, got, a.Status)
		}
	}
}

// A logged-in reader is one visitor on all devices; others are identified by cookie
// if the site uses cookies.
func TestHandler_PublicCounts(t *testing.T) {
	d := open(t)
	cookies, _ := d.Site(func(s *site.Site) { s.Visitors = site.Cookie })
	none, _ := d.Site()
	bitmap, _ := d.Site(func(s *site.Site) { s.UniqueMethod, s.MaxID = counter.Bitmap, 1000 })
	send := func(s site.Site, more, address string) {
		t.Helper()
		if a := d.send("POST", "/v1/view", `{"site":"`+s.WriteKey+`","page":"/a"`+more+`}`, "X-Forwarded-For",
			address); a.StatusCode != http.StatusAccepted {
			t.Errorf("%s %s", a.Status, a.body)
		}
	}
	for _, s := range []site.Site{cookies, none, bitmap} {
		send(s, `,"user":"42"`, "203.0.113.1")
		send(s, `,"user":"42","visitor":"c9"`, "203.0.113.2")
		send(s, `,"user":"43"`, "203.0.113.2")
		send(s, `,"visitor":"c1"`, "203.0.113.3")
		send(s, `,"visitor":"c1"`, "203.0.113.4")
		send(s, `,"visitor":"c2"`, "203.0.113.4")
	}
	for name, c := range map[string]struct {
		site site.Site
		want int64
	}{"cookies": {cookies, 4}, "none": {none, 4}} {
		if got := d.stats(c.site, "/a"); got.Views != c.want || got.Uniques.AllTime != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := d.stats(bitmap, "/a"); got.Views != 4 || got.Uniques.AllTime != 2 { // ids 42 and 43
		t.Errorf("bitmap: %+v", got)
	}
}

func TestHandler_Batch(t *testing.T) {
	d := open(t)
	s, secret := d.Site()
	headers := []string{
		"Authorization", "Bearer " + secret, "Content-Type", "application/x-ndjson", "User-Agent",
		"our-server/1.0", "Accept-Language", "",
	}
	lines := strings.Join([]string{
		`{"page":"/a","address":"203.0.113.7","user_agent":"` + firefox + `","referrer":"https://zalo.me/"}`,
		`{"page":"/a","address":"203.0.113.7","user_agent":"` + firefox + `"}`, // again
		`{"page":"/a","user":"42","type":"click"}`,
		`{"page":"/a","address":"203.0.113.8","user_agent":"curl/8.5.0"}`,
		`{"page":"/a","address":"203.0.113.8","opt_out":true}`,
		`{"page":"/a"}`, `{"page":"/a","address":"here"}`, `{"address":"203.0.113.9"}`,
		`{"page":"/a","user":"1","type":"buy"}`, `{"page":"/a","user":5}`, `not JSON`,
		`{"page":"/a","user":"43","time":"2019-01-01T00:00:00Z"}`,
		`{"page":"/a","user":"44","time":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `"}`,
		"",
	}, "\n")
	a := d.send("POST", "/v1/batch", lines, headers...)
	want := `{"accepted":5,"counted":4,"filtered":{"library":1,"opt_out":1,"unknown_event":1},"rejected":[` +
		`{"index":5,"errors":[{"field":"address","code":"required","message":"Send user, visitor or address to identify the visitor."}]},` +
		`{"index":6,"errors":[{"field":"address","code":"invalid","message":"Must be an IP address."}]},` +
		`{"index":7,"errors":[{"field":"page","code":"required","message":"Send the page's URL or id."}]},` +
		`{"index":9,"errors":[{"field":"user","code":"wrong_type","message":"Must not be a number."}]},` +
		`{"index":10,"errors":[{"field":"body","code":"not_json","message":"Send one JSON object."}]}]}`
	if a.StatusCode != http.StatusAccepted || strings.TrimSpace(a.body) != want {
		t.Errorf("%s\n%s\nwant\n%s", a.Status, a.body, want)
	}
	if got := d.stats(s, "/a"); got.Views != 3 || got.Clicks != 1 {
		t.Errorf("%+v", got)
	}
	// Times are clamped to the last 48 hours.
	v, err := s.CounterSite()
	d.Must(err)
	days, err := d.Counter.Series(t.Context(), v, "/a", counter.View, counter.ByDay, 4)
	d.Must(err)
	sum := int64(0)
	for _, b := range days {
		sum += b.Count
	}
	if sum != 3 || days[len(days)-1].Count != 2 {
		t.Errorf("%+v", days)
	}
	// A batch of the maximum size, as an array.
	rows := make([]string, 1000)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"page":"/b","user":"%d"}`, i)
	}
	headers[3] = "application/json"
	if a := d.send("POST", "/v1/batch", "["+strings.Join(rows, ",")+"]", headers...); !strings.HasPrefix(a.body,
		`{"accepted":1000,"counted":1000,`) {
		t.Errorf("%s %s", a.Status, a.body)
	}
	// The old key is invalid once there is a new one.
	_, _, err = d.Sites.RotateSecret(t.Context(), d.Owner, s.ID)
	d.Must(err)
	d.expectProblem("an old key", d.send("POST", "/v1/batch", "[]", headers...), 401, "secret_invalid", "")
}

// Without Redis, no hit is acknowledged.
func TestHandler_RedisUnavailable(t *testing.T) {
	d := open(t)
	s, _ := d.Site()
	d.view(s, "/a")
	d.StopRedis()
	d.expectProblem("without Redis", d.send("POST", "/v1/view", `{"site":"`+s.WriteKey+`","page":"/a"}`), 503,
		"unavailable", "")
	if log := d.log.String(); !strings.Contains(log, "a hit was not counted") || strings.Contains(log, "203.0.113.7") {
		t.Errorf("unexpected log: %s", log)
	}
}

// A change of a site soon applies in other processes.
func TestDirectory_RefreshesAcrossProcesses(t *testing.T) {
	d := open(t)
	other := &site.Directory{Store: d.Store.Audience.Sites, Sealer: d.Sealer, Log: d.Ingest.Log}
	d.Must(other.Refresh(t.Context()))
	go other.Run(t.Context())
	await := func(what string, is func() bool) {
		t.Helper()
		for until := time.Now().Add(30 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("the other process did not get %s", what)
			}
		}
	}
	s, _ := d.Site()
	await("the new site", func() bool { _, ok := other.ByKey(s.WriteKey); return ok })
	hits := 77
	_, err := d.Sites.Update(t.Context(), d.Owner, s.ID, site.Update{RateHits: &hits})
	d.Must(err)
	await("its new rate", func() bool { a, ok := other.ByKey(s.WriteKey); return ok && a.RateHits == 77 })
	d.Must(d.Sites.Delete(t.Context(), d.Owner, s.ID))
	await("its end", func() bool { _, ok := other.ByKey(s.WriteKey); return !ok })
	d.expectProblem("a deleted site", d.send("POST", "/v1/view", `{"site":"`+s.WriteKey+`","page":"/a"}`), 422,
		"invalid_request", "site")
}

// Readers of short links are identified like readers of pages.
func TestClassify_LinkClicks(t *testing.T) {
	d := open(t)
	links := site.PostsSite(d.Workspace.ID)
	read := func(headers ...string) (counter.Hit, string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/l/0123456789", http.NoBody)
		r.RemoteAddr = "127.0.0.1:5"
		r.Header.Set("User-Agent", firefox)
		r.Header.Set("Accept-Language", "vi")
		r.Header.Set("X-Forwarded-For", "203.0.113.7")
		r.Header.Set("Referer", "https://l.facebook.com/")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		h, reason, err := d.Ingest.Classify(t.Context(), r, links)
		d.Must(err)
		return h, reason
	}
	one, reason := read()
	if reason != "" || one.Visitor.Hash == 0 || one.Site != links {
		t.Errorf("got %+v with reason %q, want a hit of a visitor on the site of links", one, reason)
	}
	if got, want := one.Referrer+" "+one.Device, "facebook.com desktop"; got != want {
		t.Errorf("dimensions: got %s, want %s", got, want)
	}
	if same, _ := read(); same.Visitor != one.Visitor {
		t.Error("one reader counts as two")
	}
	if other, _ := read("X-Forwarded-For", "203.0.113.8"); other.Visitor == one.Visitor {
		t.Error("two readers count as one")
	}
	if _, reason := read("User-Agent", "TelegramBot (like TwitterBot)"); reason != "preview" {
		t.Errorf("a preview: got %q", reason)
	}
	if _, reason := read("DNT", "1"); reason != "opt_out" {
		t.Errorf("an opted-out reader: got %q", reason)
	}
	for range site.DefaultRateHits {
		_, reason = read()
	}
	if reason != "rate" {
		t.Errorf("too many clicks: got %q", reason)
	}
}

// A client with a site's write key cannot create an unlimited number of pages;
// known pages are still counted by name.
func TestPageLimiter_DailyLimit(t *testing.T) {
	d := open(t)
	d.Ingest.MaxPages = 3
	s, secret := d.Site()
	other, _ := d.Site()
	for n := range 6 {
		d.view(s, fmt.Sprint("p", n), "X-Forwarded-For", fmt.Sprint("203.0.113.", n))
	}
	d.view(s, "p1", "X-Forwarded-For", "203.0.113.77")
	d.view(s, "p9", "User-Agent", "curl/8.0")
	d.view(other, "p5")
	a := d.send("POST", "/v1/batch", `[{"page":"p8","user":"1"},{"page":"p2","user":"1"}]`, "Authorization",
		"Bearer "+secret)
	if a.StatusCode != http.StatusAccepted {
		t.Errorf("%s %s", a.Status, a.body)
	}
	for page, want := range map[string]int64{
		"p0": 1, "p1": 2, "p2": 2, "p3": 0, "p5": 0, "p8": 0,
		ingest.OtherPage: 4,
	} {
		if got := d.stats(s, page).Views; got != want {
			t.Errorf("%s has %d views, want %d", page, got, want)
		}
	}
	if got := d.filtered(s, ingest.OtherPage); got["library"] != 1 {
		t.Errorf("filtered: %v", got)
	}
	if got := d.stats(other, "p5").Views; got != 1 {
		t.Errorf("the page of another site has %d views", got)
	}
}
