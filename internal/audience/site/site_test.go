package site_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"

	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func draft() site.Site {
	return site.Site{
		Name: "News", TimeZone: "Asia/Ho_Chi_Minh", WindowSeconds: 1800, UniqueMethod: counter.HyperLogLog,
		RateHits: site.DefaultRateHits, RateSeconds: 10, Visitors: site.Cookieless,
	}
}

func TestSite_AllowsHosts(t *testing.T) {
	t.Parallel()
	s := site.Site{Domains: []string{"news.example"}}
	open := site.Site{}
	for host, want := range map[string]bool{
		"news.example": true, "m.news.example": true, "a.b.news.example": true,
		"fakenews.example": false, "news.example.evil.example": false, "example": false, "": false,
	} {
		if s.Allows(host) != want || s.Owns(host) != want {
			t.Errorf("%q: allowed is %v, owned is %v, want %v", host, s.Allows(host), s.Owns(host), want)
		}
		if !open.Allows(host) || open.Owns(host) {
			t.Errorf("%q: a site without domains accepts hits from all hosts and owns none", host)
		}
	}
}

func TestSite_ValidateErrors(t *testing.T) {
	n := newsroomtest.Open(t)
	for name, row := range map[string]struct {
		spoil func(*site.Site)
		field string
	}{
		"no name":                   {func(s *site.Site) { s.Name = " " }, "name"},
		"a long name":               {func(s *site.Site) { s.Name = strings.Repeat("ộ", 201) }, "name"},
		"a blank name":              {func(s *site.Site) { s.Name = "a\xff" }, "name"},
		"an address":                {func(s *site.Site) { s.Domains = []string{"https://news.example/"} }, "domains"},
		"a network address":         {func(s *site.Site) { s.Domains = []string{"203.0.113.7"} }, "domains"},
		"too many domains":          {func(s *site.Site) { s.Domains = many(51) }, "domains"},
		"an unknown zone":           {func(s *site.Site) { s.TimeZone = "Asia/Hanoi_" }, "time_zone"},
		"no window":                 {func(s *site.Site) { s.WindowSeconds = 0 }, "window_seconds"},
		"a window of days":          {func(s *site.Site) { s.WindowSeconds = 86401 }, "window_seconds"},
		"no hits":                   {func(s *site.Site) { s.RateHits = 0 }, "rate_hits"},
		"no time":                   {func(s *site.Site) { s.RateSeconds = 0 }, "rate_seconds"},
		"unknown unique method":     {func(s *site.Site) { s.UniqueMethod = "guess" }, "unique_method"},
		"a bitmap without ids":      {func(s *site.Site) { s.UniqueMethod = counter.Bitmap }, "max_id"},
		"ids without a bitmap":      {func(s *site.Site) { s.MaxID = 5 }, "max_id"},
		"an unknown visitor method": {func(s *site.Site) { s.Visitors = "iris" }, "visitors"},
	} {
		s := draft()
		row.spoil(&s)
		_, _, _, err := n.Sites.Create(t.Context(), n.Owner, s, idempotency.Key{})
		var refused *apperr.Error
		if !errors.As(err, &refused) ||
			!slices.ContainsFunc(refused.Fields,
				func(p apperr.FieldError) bool { return p.Field == row.field && p.Message != "" }) {
			t.Errorf("%s: got %v, want an error for %s", name, err, row.field)
		}
	}
	if all, err := n.Sites.List(t.Context(), n.Owner); err != nil || len(all) != 0 {
		t.Errorf("%d sites were created, %v", len(all), err)
	}
}

func many(n int) (domains []string) {
	for i := range n {
		domains = append(domains, "a"+strings.Repeat("b", i)+".example")
	}
	return domains
}

// Input is normalized, and the default time zone is the workspace's.
func TestService_Create(t *testing.T) {
	n := newsroomtest.Open(t)
	s := draft()
	s.Name, s.TimeZone, s.Domains = "  Tin tức ", "", []string{"Báo.example.", "a.example", "A.example"}
	made, key, replayed, err := n.Sites.Create(t.Context(), n.Owner, s, idempotency.Key{})
	n.Must(err)
	if replayed || made.Name != "Tin tức" || made.TimeZone == "" ||
		!slices.Equal(made.Domains, []string{"a.example", "xn--bo-mia.example"}) {
		t.Errorf("%+v", made)
	}
	if !strings.HasPrefix(made.WriteKey, "dlw_") || !strings.HasPrefix(key.Reveal(), "dls_") ||
		string(made.SecretHash) != string(site.HashSecret(key.Reveal())) {
		t.Errorf("keys %s and %s", made.WriteKey, key.Reveal())
	}
	counted, err := made.CounterSite()
	if n.Must(err); counted.ID != made.ID || counted.Workspace != n.Owner.WorkspaceID ||
		counted.Window != site.DefaultWindow || counted.Zone.String() != made.TimeZone {
		t.Errorf("%+v", counted)
	}
	stranger := workspace.Principal{WorkspaceID: uuid.New(), Role: workspace.Owner}
	var refused *apperr.Error
	if _, err := n.Sites.Get(t.Context(), stranger, made.ID); !errors.As(err, &refused) ||
		refused.Kind != apperr.KindNotFound {
		t.Errorf("another workspace reads it: %v", err)
	}
}

func TestService_Update(t *testing.T) {
	n := newsroomtest.Open(t)
	s := draft()
	s.UniqueMethod, s.MaxID = counter.Bitmap, 1000
	made, _, _, err := n.Sites.Create(t.Context(), n.Owner, s, idempotency.Key{})
	n.Must(err)
	hits, more, fewer := 30, int64(2000), int64(10)
	changed, err := n.Sites.Update(t.Context(), n.Owner, made.ID, site.Update{RateHits: &hits, MaxID: &more})
	if n.Must(err); changed.RateHits != 30 || changed.MaxID != 2000 || changed.Name != "News" ||
		changed.WindowSeconds != 1800 {
		t.Errorf("%+v", changed)
	}
	var refused *apperr.Error
	if _, err := n.Sites.Update(t.Context(), n.Owner, made.ID, site.Update{MaxID: &fewer}); !errors.As(err, &refused) ||
		refused.Fields[0].Field != "max_id" {
		t.Errorf("decrease of max_id: got %v, want an error", err)
	}
}

// directory is the directory of another process.
func directory(n *newsroomtest.Newsroom) *site.Directory {
	return &site.Directory{Store: n.Store.Audience.Sites, Sealer: n.Sealer, Log: slog.New(slog.DiscardHandler)}
}

func TestDirectory_Refresh(t *testing.T) {
	n := newsroomtest.Open(t)
	d := directory(n)
	if _, ok := d.ByKey("dlw_none"); ok || d.AnyAllows("news.example") {
		t.Error("a directory that has not been refreshed has sites")
	}
	n.Must(d.Refresh(t.Context()))
	made, secret := n.Site(func(s *site.Site) { s.Domains = []string{"news.example"} })
	if _, ok := d.ByKey(made.WriteKey); ok {
		t.Error("the site was found before a refresh")
	}
	n.Must(d.Refresh(t.Context()))
	found, ok := d.ByKey(made.WriteKey)
	if !ok || found.ID != made.ID {
		t.Fatalf("site by key: got %+v, %v, want %s", found, ok, made.ID)
	}
	got := fmt.Sprint(len(found.VisitorSite.Key), found.VisitorSite.UseCookie, found.CounterSite.UniqueMethod)
	if want := fmt.Sprint(32, false, counter.HyperLogLog); got != want {
		t.Errorf("key length, cookies and method: got %s, want %s", got, want)
	}
	if byID, ok := d.ByID(made.ID); !ok || byID != found {
		t.Error("the site was not found by id")
	}
	if bySecret, ok := d.BySecret(secret); !ok || bySecret != found {
		t.Error("the site was not found by secret key")
	}
	for _, wrong := range []string{"", made.WriteKey, secret + "x", strings.ToLower(secret)} {
		if _, ok := d.BySecret(wrong); ok {
			t.Errorf("%q is a secret key", wrong)
		}
	}
	if !d.AnyAllows("m.news.example") || d.AnyAllows("other.example") {
		t.Error("hosts are not known")
	}

	cookie := site.Cookie
	_, err := n.Sites.Update(t.Context(), n.Owner, made.ID, site.Update{Visitors: &cookie})
	n.Must(err)
	_, renewed, err := n.Sites.RotateSecret(t.Context(), n.Owner, made.ID)
	n.Must(err)
	n.Must(d.Refresh(t.Context()))
	if now, ok := d.BySecret(renewed.Reveal()); !ok || !now.VisitorSite.UseCookie ||
		string(now.VisitorSite.Key) != string(found.VisitorSite.Key) {
		t.Error("the change is not effective, or its visitors are no longer known")
	}
	if _, ok := d.BySecret(secret); ok {
		t.Error("the old secret key still works")
	}

	n.Must(n.Sites.Delete(t.Context(), n.Owner, made.ID))
	n.Must(d.Refresh(t.Context()))
	if _, ok := d.ByKey(made.WriteKey); ok || d.AnyAllows("news.example") {
		t.Error("a deleted site still counts")
	}
}
