package watch_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/watch"
)

// A site that asks for a pause is left alone; watches of other sites are checked meanwhile.
func TestChecker_SkipsThrottledSites(t *testing.T) {
	throttle := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(status)
		}
	}
	for name, c := range map[string]struct {
		page, robots http.HandlerFunc
		requests     int32 // of the throttled site, with robots.txt and tdmrep.json
	}{
		"429":               {page: throttle(http.StatusTooManyRequests), requests: 3},
		"503":               {page: throttle(http.StatusServiceUnavailable), requests: 3},
		"429 of robots.txt": {robots: throttle(http.StatusTooManyRequests), requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := newRig(t)
			var requests atomic.Int32
			d.site(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				switch {
				case r.URL.Path == "/robots.txt" && c.robots != nil:
					c.robots(w, r)
				case r.URL.Path == "/prices" && c.page != nil:
					c.page(w, r)
				default:
					http.NotFound(w, r)
				}
			})
			slow := "http://" + d.otherHost + "/prices"
			first := d.watch(func(w *watch.Watch) { w.URL = slow })
			second := d.watch(func(w *watch.Watch) { w.URL = slow })
			third := d.watch()
			for round := range 2 {
				start := time.Now()
				d.check()
				if took := time.Since(start); took > fetchTimeout {
					t.Errorf("round %d: took %s, want less than a fetch may take", round, took)
				}
				for _, w := range []watch.Watch{first, second} {
					got := d.get(w.ID)
					if wait := time.Until(got.DueAt); got.Problem != watch.Problem(fetch.Throttled) ||
						wait < 59*time.Minute || wait > 61*time.Minute {
						t.Errorf("round %d: got the problem %q and the next check in %s, want throttled, and the end "+
							"of the pause", round, got.Problem, wait)
					}
				}
			}
			if got := d.get(third.ID); got.Problem != "" || !slices.Equal(got.Lines, []string{"Petrol: 21.050"}) {
				t.Errorf("got %+v, want the watch of the other site to be checked", got)
			}
			if n := requests.Load(); n != c.requests {
				t.Errorf("got %d requests to the throttled site, want %d", n, c.requests)
			}
		})
	}
}

// A page that redirects to a throttled site throttles no other watch of its own site.
func TestChecker_RedirectToThrottledSite(t *testing.T) {
	d := newRig(t)
	d.site(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/prices" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	moved := d.watch(func(w *watch.Watch) { w.URL = d.server.URL + "/moved" })
	d.redirect("/moved", "http://"+d.otherHost+"/prices")
	w := d.watch()
	d.check()
	if got := d.get(moved.ID); got.Problem != watch.Problem(fetch.Throttled) {
		t.Errorf("got the problem %q, want throttled", got.Problem)
	}
	if got := d.get(w.ID); got.Problem != "" || got.Lines == nil {
		t.Errorf("got %+v, want the watch of the redirecting site to be checked", got)
	}
}

// A region that is empty for a while is a problem, and no change before and after it.
func TestChecker_EmptyRegionIsAProblem(t *testing.T) {
	d := newRig(t)
	w := d.watch()
	d.check()
	for _, region := range []string{
		"<div id=prices></div>", "<div id=prices> <p>&nbsp;&#8203;</p></div>",
		"<ul id=prices><li><img src=wait.gif></ul>",
	} {
		d.serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(region))
		})
		d.check()
		if got := d.get(w.ID); got.Problem != watch.Empty || got.ChangeCount != 0 {
			t.Errorf("%s: got the problem %q and %d changes, want %q and 0", region, got.Problem, got.ChangeCount,
				watch.Empty)
		}
	}
	d.show("Petrol: 21.050")
	d.check()
	if got := d.get(w.ID); got.Problem != "" || got.ChangeCount != 0 || d.events() != 0 {
		t.Errorf("got %+v and %d events, want no change", got, d.events())
	}
}

func TestChecker_SameTextInAnotherFormIsNoChange(t *testing.T) {
	d := newRig(t)
	d.show("Giá vàng: 21.050 đồng")
	w := d.watch()
	d.check()
	for name, text := range map[string]string{
		"NFD":              "Gia\u0301 va\u0300ng: 21.050 đo\u0302\u0300ng",
		"zero width space": "Giá\u200b vàng: 21\u200b.050 đồng",
		"no-break space":   "Giá\u00a0vàng:\u202f21.050\u2003đồng",
		"soft hyphen":      "Giá vàng: 21.050 đ\u00adồng",
		"byte order mark":  "\ufeffGiá vàng: 21.050 đồng",
		"direction marks":  "\u200eGiá vàng: \u2066\u206821.050\u2069 đồng",
	} {
		d.show(text)
		d.check()
		if got := d.get(w.ID); got.ChangeCount != 0 {
			t.Fatalf("%s: got a change, want none", name)
		}
	}
	d.show("Gia vàng: 21.050 đồng")
	d.check()
	if got := d.get(w.ID); got.ChangeCount != 1 {
		t.Errorf("another letter: got %d changes, want 1", got.ChangeCount)
	}
}

// A 304 may bring new validators (RFC 9111, section 4.3.4).
func TestChecker_UpdatesValidators(t *testing.T) {
	d := newRig(t)
	var asked []string
	d.serve(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("If-None-Match")+" "+r.Header.Get("If-Modified-Since"))
		w.Header().Set("Content-Type", "text/html")
		switch len(asked) {
		case 1:
			w.Header().Set("ETag", `"v2"`)
			w.Header().Set("Last-Modified", "Thu, 05 Mar 2026 09:15:00 GMT")
			_, _ = w.Write([]byte("<p id=prices>Petrol"))
			return
		case 2:
			w.Header().Set("ETag", `"v3"`)
		case 3:
			w.Header().Set("Last-Modified", "Fri, 06 Mar 2026 09:15:00 GMT")
		}
		w.WriteHeader(http.StatusNotModified)
	})
	d.watch()
	for range 4 {
		d.check()
	}
	want := []string{
		" ", `"v2" Thu, 05 Mar 2026 09:15:00 GMT`, `"v3" Thu, 05 Mar 2026 09:15:00 GMT`,
		`"v3" Fri, 06 Mar 2026 09:15:00 GMT`,
	}
	if !slices.Equal(asked, want) {
		t.Errorf("got the conditions %q, want %q", asked, want)
	}
}
