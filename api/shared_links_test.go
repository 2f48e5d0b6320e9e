package api_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/report"
	"dateline/internal/audience/sharedlink"
	"dateline/internal/audience/site"
	"dateline/internal/infra/timezone"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
)

func sharedLinks(store *postgres.Store) *sharedlink.Service {
	return &sharedlink.Service{Store: store.Audience.Sites, PublicURL: "https://dateline.example"}
}

func sharedPages(store *postgres.Store) *sharedlink.Pages {
	return sharedlink.NewPages(sharedLinks(store), &report.Reporter{Store: store.Audience.Reports}, slog.New(slog.DiscardHandler))
}

// browser sends requests without a token and follows no redirects.
type browser struct {
	s        *server
	language string
	cookies  []*http.Cookie
}

func (b *browser) open(address string, form url.Values) (*http.Response, string) {
	b.s.t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	u, err := url.Parse(address)
	b.s.Must(err)
	r, err := http.NewRequestWithContext(b.s.t.Context(), method, b.s.url+u.RequestURI(), body)
	b.s.Must(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept-Language", b.language)
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	got, err := (&http.Client{CheckRedirect: func(*http.Request,
		[]*http.Request,
	) error {
		return http.ErrUseLastResponse
	}}).Do(r)
	b.s.Must(err)
	defer func() { b.s.Must(got.Body.Close()) }()
	text, err := io.ReadAll(got.Body)
	b.s.Must(err)
	b.cookies = append(b.cookies, got.Cookies()...)
	return got, string(text)
}

func TestSharedLinks_ShowOneReportWithoutLogin(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.Name, w.Domains = "The <Paper>", []string{"news.example"} })
	for i := range 9 {
		page := "/popular"
		if i >= 6 {
			page = "/quiet"
		}
		a := s.send("POST", "/v1/view", object{
			"site": w.WriteKey, "url": "https://news.example" + page,
			"user": fmt.Sprint("r", i),
		}, "Authorization", "",
			"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Accept-Language",
			"en")
		if a.StatusCode != http.StatusAccepted {
			t.Errorf("%s %s", a.Status, a.body)
		}
	}
	f := flush.Flusher{
		Counter: counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{}), Store: s.Store.Audience.Views,
		Log: slog.New(slog.DiscardHandler),
	}
	for range 2 {
		_, err := f.Flush(t.Context(), func() {})
		s.Must(err)
	}
	_, err := f.Maintain(t.Context(), func() {})
	s.Must(err)

	path := "/api/v1/sites/" + w.ID.String() + "/shared-links"
	share := func(body object) (l spec.SharedLink) {
		t.Helper()
		s.decode(s.send("POST", path, body), 201, &l)
		return l
	}
	l := share(object{"name": "For the <board>", "embed_origins": []string{"https://intranet.example"}})
	got, text := (&browser{s: s}).open(*l.Url, nil)
	for _, want := range []string{
		"For the &lt;board&gt;", "The &lt;Paper&gt;", "<dt>Views</dt><dd>9",
		"<td>/popular</td><td>6</td>", "<td>Other</td><td>3</td>", "<polyline",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s %s", want, got.Status, text)
		}
	}
	if strings.Contains(text, "/quiet") || strings.Contains(text, "<script") {
		t.Errorf("the page shows a small number or has a script: %s", text)
	}
	h := got.Header
	if p := h.Get("Content-Security-Policy"); !strings.Contains(p, "frame-ancestors https://intranet.example") ||
		h.Get("X-Frame-Options") != "" || h.Get("X-Robots-Tag") != "noindex" ||
		h.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("headers: %v", h)
	}
	if got, _ := (&browser{s: s}).open(*share(object{"name": "Plain"}).Url,
		nil); !strings.Contains(got.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
		got.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("a link without origins can be embedded: %v", got.Header)
	}
	filtered := share(object{"name": "One page", "filters": []string{
		"page:https://news.example/quiet", "page:/none",
	}})
	if _, text := (&browser{s: s}).open(*filtered.Url+"?days=7&filter=page:/popular&site=x",
		nil); !strings.Contains(text, "<dt>Views</dt><dd>3") || strings.Join(filtered.Filters,
		" ") != "page:/quiet page:/none" {
		t.Errorf("the fixed filters %v show %s", filtered.Filters, text)
	}

	// In the words, dates and with the chart of the dashboard: today is dashed.
	_, vietnamese := (&browser{s: s, language: "vi"}).open(*l.Url, nil)
	zone, err := timezone.Load(w.TimeZone)
	s.Must(err)
	for _, want := range []string{
		"<dt>Khách truy cập</dt>", "<td>Trực tiếp</td><td>9</td>", ">Trang đích</th>", "<td>Khác</td>",
		"– " + time.Now().In(zone).Format("2/1/2006") + " (",
		`stroke-dasharray="4 4" vector-effect="non-scaling-stroke" points="577.`,
	} {
		if !strings.Contains(vietnamese, want) {
			t.Errorf("the page in Vietnamese lacks %q: %s", want, vietnamese)
		}
	}

	// A password opens the report in this browser only.
	locked := share(object{"name": "Locked", "password": "correct horse"})
	b := &browser{s: s}
	if got, text := b.open(*locked.Url, nil); got.StatusCode != http.StatusOK || strings.Contains(text, "/popular") ||
		!strings.Contains(text, `type="password"`) {
		t.Errorf("a locked report: %s %s", got.Status, text)
	}
	if got, text := b.open(*locked.Url,
		url.Values{"password": {"wrong horse"}}); got.StatusCode != http.StatusForbidden ||
		strings.Contains(text, "/popular") {
		t.Errorf("a wrong password: %s %s", got.Status, text)
	}
	if got, _ := b.open(*locked.Url, url.Values{"password": {"correct horse"}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("the password: got %s, want 303", got.Status)
	}
	if _, text := b.open(*locked.Url, nil); !strings.Contains(text, "/popular") {
		t.Errorf("the unlocked report shows %s", text)
	}
	other := share(object{"name": "Other", "password": "another horse"})
	if _, text := b.open(*other.Url, nil); strings.Contains(text, "/popular") {
		t.Error("the password of one link opens another one")
	}
	tries := 0
	for ; tries < 20; tries++ {
		if got, _ := (&browser{s: s}).open(*other.Url,
			url.Values{"password": {"guess"}}); got.StatusCode == http.StatusTooManyRequests {
			break
		}
	}
	if tries > 10 {
		t.Error("passwords can be tried without limit")
	}

	// Neither the database nor the log knows a token.
	token := (*l.Url)[strings.LastIndex(*l.Url, "/")+1:]
	if n := s.Count("select count(*) from shared_links where name like '%' || $1 || '%' or encode(token_hash, "+
		"'escape') like '%' || $1 || '%'", token); n != 0 || strings.Contains(s.log.String(), token) {
		t.Error("the token is stored or logged")
	}

	s.Exec("update shared_links set expires_at = now() where name = 'One page'")
	if a := s.send("DELETE", path+"/"+l.Id.String(), nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("revoke: %s %s", a.Status, a.body)
	}
	for _, gone := range []string{*l.Url, *filtered.Url, *l.Url + "x", "/shared/none"} {
		if got, text := (&browser{s: s}).open(gone, nil); got.StatusCode != http.StatusNotFound &&
			got.StatusCode != http.StatusTooManyRequests || strings.Contains(text, "/popular") {
			t.Errorf("%s: got %s, want 404", gone, got.Status)
		}
	}
	s.refused(s.send("DELETE", path+"/"+l.Id.String(), nil), 404, "shared_link_not_found")
	_, _, rival := s.Found("Rivals")
	s.refused(s.send("GET", path, nil, "Authorization", "Bearer "+rival), 404, "site_not_found")
	s.refused(s.send("DELETE", path+"/"+locked.Id.String(), nil, "Authorization", "Bearer "+rival), 404,
		"shared_link_not_found")
	for field, body := range map[string]object{
		"name": {"name": " "}, "password": {
			"name": "a", "password": "correct horse", "embed_origins": []string{"https://a.example"},
		},
		"embed_origins": {"name": "a", "embed_origins": []string{"https://a.example/path"}},
		"expires_at":    {"name": "a", "expires_at": "2020-01-01T00:00:00Z"},
	} {
		s.refused(s.send("POST", path, body), 422, "invalid_request", field)
	}
	var list struct {
		SharedLinks []spec.SharedLink `json:"shared_links"`
	}
	s.decode(s.send("GET", path, nil), 200, &list)
	for _, l := range list.SharedLinks {
		if l.Url != nil || l.HasPassword != (l.Name == "Locked" || l.Name == "Other") {
			t.Errorf("the list shows %+v", l)
		}
	}
}
