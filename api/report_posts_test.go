package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/audience/site"
	"dateline/internal/infra/timezone"
)

// Clicks on the links of a post and the visits that start with them are counted by
// post, account and network. The page keeps its name.
func TestSiteReport_Posts(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.Domains = []string{"posts.example"} })
	desk, sport := s.Connect("desk"), s.Connect("sport")
	p := s.post(s.send("POST", "/api/v1/posts",
		hello(object{
			"content": "Read https://posts.example/a?x=1#end and https://other.example/b", "track_links": true,
			"accounts": []any{desk.ID, sport.ID},
		})), 201)
	var page spec.LinkList
	s.decode(s.send("GET", linksPath+"?post="+p.Id.String(), nil), 200, &page)
	codes := map[uuid.UUID]string{}
	for _, l := range page.Links {
		if strings.Contains(l.Url, "posts.example") {
			codes[*l.AccountId] = l.Code
		} else if got := s.click("GET", l.Code, "x").Header.Get("Location"); got != l.Url {
			t.Errorf("a link to another site leads to %s, want %s", got, l.Url)
		}
	}
	browser := []string{
		"Authorization", "", "User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0",
		"Accept-Language", "vi",
	}
	read := func(account uuid.UUID, reader string) {
		t.Helper()
		target := s.click("GET", codes[account], reader).Header.Get("Location")
		if want := "https://posts.example/a?x=1&dateline_link=" + codes[account] + "#end"; target != want {
			t.Errorf("the link leads to %s, want %s", target, want)
		}
		if a := s.send("POST", "/v1/view", object{"site": w.WriteKey, "url": target, "user": reader, "view": reader},
			browser...); a.StatusCode != http.StatusAccepted {
			t.Errorf("%s %s", a.Status, a.body)
		}
		if a := s.send("POST", "/v1/heartbeat", object{
			"site": w.WriteKey, "url": target, "user": reader,
			"view": reader, "engaged": 500, "scroll": 100,
		}, browser...); a.StatusCode != http.StatusAccepted {
			t.Errorf("%s %s", a.Status, a.body)
		}
	}
	read(desk.ID, "a")
	read(desk.ID, "b")
	read(sport.ID, "c")
	s.click("GET", codes[sport.ID], "d") // without a visit
	s.flush()
	s.flush()

	zone, err := timezone.Load(w.TimeZone)
	s.Must(err)
	day := func(ago int) string { return time.Now().In(zone).AddDate(0, 0, -ago).Format(time.DateOnly) }
	base := "/api/v1/sites/" + w.ID.String() + "/report?from=" + day(1) + "&to=" + day(-1)
	for query, want := range map[string]string{
		"&by=posts":                            "posts,label,visits,clicks,engaged_views,median_seconds,completed_views\n" + p.Id.String() + ",Read https://posts.example/a?x=1#end and https://other.example/b,3,4,3,1,3\n",
		"&by=post_networks":                    "post_networks,visits,clicks,engaged_views,median_seconds,completed_views\nmastodon,3,4,3,1,3\n",
		"&by=days&filter=page:" + "/a%3Fx%3D1": "",
	} {
		got := withoutMark(t, s.send("GET", base+query+"&format=csv", nil).body)
		if want == "" {
			if !strings.Contains(got, ",3,3,3,") {
				t.Errorf("the page: got %q, want 3 views, visitors and visits", got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	var r spec.SiteReport
	s.decode(s.send("GET", base+"&by=post_accounts&compare=previous", nil), 200, &r)
	rows := r.Tables[0].Rows
	if len(rows) != 2 || *rows[0].Totals.Clicks != 2 || *rows[0].Totals.Visits+*rows[1].Totals.Visits != 3 {
		t.Fatalf("accounts: got %+v, want two with 2 clicks each and 3 visits", rows)
	}
	if rows[0].Label == nil || rows[0].Previous == nil || *rows[0].Previous != 0 {
		t.Errorf("accounts: got %+v, want a name and 0 in the period before", rows[0])
	}
	s.refused(s.send("GET", base+"&by=posts&filter=country:VN", nil), 400, "report_not_computable", "by")
}
