package ingest_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dateline/internal/audience/site"
	"dateline/internal/testing/enginetest"
)

// web is a news site on loopback under the name news.test, and the API under
// stats.test.
type web struct {
	*fixture
	*enginetest.Browser
	site   site.Site
	port   string // of the site
	script string // URL of the tracker
}

// openWeb serves pages that load the tracker with attributes.
func openWeb(t *testing.T, attributes string, change ...func(*site.Site)) *web {
	t.Helper()
	w := &web{fixture: open(t)}
	w.site, _ = w.Site(append([]func(*site.Site){func(s *site.Site) {
		s.Domains, s.RateHits = []string{"news.test"},
			1000
	}}, change...)...)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(w.url, "http://"))
	w.Must(err)
	w.script = "http://stats.test:" + port + "/v1/d.js"
	pages := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		out.Header().Set("Cache-Control", "max-age=60")
		_, _ = fmt.Fprintf(out, `<!doctype html><title>%s</title><a id="next" href="/next">next</a>
			<button id="buy" data-dateline="conversion">buy</button><button id="more" data-dateline><b id="inner">more</b></button>
			<article style="display:block;height:3000px"></article><div style="height:6000px">comments</div>
			<script defer src="%s" data-site="%s" %s></script>`, r.URL.Path, w.script, w.site.WriteKey, attributes)
	}))
	t.Cleanup(pages.Close)
	_, w.port, err = net.SplitHostPort(strings.TrimPrefix(pages.URL, "http://"))
	w.Must(err)
	w.Browser = enginetest.Chromium(t, "MAP *.test 127.0.0.1")
	return w
}

func (w *web) page(path string) string { return "http://news.test:" + w.port + path }

// awaits waits until pages have the given numbers of views, and then a little
// longer to detect surplus ones.
func (w *web) awaits(want map[string]int64) {
	w.t.Helper()
	got := map[string]int64{}
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		same := true
		for page, views := range want {
			got[page] = w.stats(w.site, page).Views
			same = same && got[page] == views
		}
		if same {
			return
		}
	}
	w.t.Errorf("views are %v, not %v\n%s", got, want, w.log)
}

// settle waits until all hits of the tracker have arrived, by sending a last one.
func (w *web) settle(tab *enginetest.Tab, name string) {
	w.t.Helper()
	tab.Eval(`window.dateline(undefined,"` + name + `")`)
	w.awaits(map[string]int64{name: 1})
}

func TestTracker_Size(t *testing.T) {
	d := open(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/v1/d.js", http.NoBody)
	d.Must(err)
	r.Header.Set("Accept-Encoding", "gzip") // explicitly, so that the client does not decompress
	a, err := http.DefaultClient.Do(r)
	d.Must(err)
	raw, err := io.ReadAll(a.Body)
	d.Must(err)
	_ = a.Body.Close()
	t.Logf("%d bytes", len(raw))
	if a.Header.Get("Content-Encoding") != "gzip" || len(raw) > 1200 || !bytes.HasPrefix(raw, []byte("\x1f\x8b")) {
		t.Errorf("%d bytes, %v", len(raw), a.Header)
	}
	if plain := d.send("GET", "/v1/d.js", "", "Accept-Encoding", "identity"); !strings.Contains(plain.body,
		"sendBeacon") || !strings.HasPrefix(plain.Header.Get("Content-Type"), "text/javascript") {
		t.Errorf("%v %s", plain.Header, plain.body)
	}
	if again := d.send("GET", "/v1/d.js", "", "If-None-Match",
		a.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("%s", again.Status)
	}
}

func TestTracker_SendsHits(t *testing.T) {
	w := openWeb(t, "")
	tab := w.Open()
	tab.Go(w.page("/first?utm_source=zalo&id=7"))
	w.awaits(map[string]int64{"/first?id=7": 1})
	// Reloaded within the window.
	tab.Call("Page.reload", nil)
	tab.Await("document.readyState=='complete'")
	w.settle(tab, "reloaded")
	// A single-page app that navigates forward and back.
	tab.Eval(`history.pushState({},"","/second")`)
	tab.Eval(`history.replaceState({},"","/second#top")`)
	tab.Eval(`history.pushState({},"","/second#bottom")`)
	w.awaits(map[string]int64{"/second": 1})
	tab.Eval(`history.back();history.back()`)
	w.settle(tab, "back")
	w.awaits(map[string]int64{"/first?id=7": 1, "/second": 1, "reloaded": 1})
	// Clicks and conversions.
	tab.Eval(
		`document.getElementById("inner").click();document.getElementById("buy").click();dateline("conversion","order-1")`)
	tab.Eval(
		`document.getElementById("next").dispatchEvent(new MouseEvent("click",{bubbles:true,cancelable:true,detail:0}))`)
	tab.Await("location.pathname=='/next'")
	w.awaits(map[string]int64{"/next": 1})
	first := w.stats(w.site, "/first?id=7")
	order := w.stats(w.site, "order-1")
	if first.Clicks != 1 || first.Conversions != 1 || order.Conversions != 1 {
		t.Errorf("%+v %+v", first, order)
	}
}

// The back button restores a page without loading it, which is a view once the window
// has passed.
func TestTracker_BackForwardCache(t *testing.T) {
	w := openWeb(t, "")
	tab := w.Open(`addEventListener("pageshow",e=>{window.back=e.persisted});
		navigator.sendBeacon=(u,b)=>{if(u.pathname=="/v1/view")(window.sent=window.sent||[]).push(JSON.parse(b).url);return fetch(u,{method:"POST",body:b,mode:"no-cors"}),true}`)
	tab.Go(w.page("/a"))
	tab.Await("window.sent&&sent.length==1")
	tab.Eval(`location.href="/b"`)
	tab.Await("location.pathname=='/b'&&window.sent&&sent.length==1")
	tab.Eval("history.back()")
	tab.Await("location.pathname=='/a'&&document.readyState=='complete'")
	tab.Await("window.sent&&(back?sent.length==2:sent.length==1)")
	if tab.Eval("back") != "true" {
		t.Error("the page was reloaded instead of restored from the back-forward cache")
	}
	w.awaits(map[string]int64{"/a": 1, "/b": 1})
}

// A page that the browser prerenders counts once the reader opens it.
func TestTracker_CountsPrerenderedPagesWhenOpened(t *testing.T) {
	w := openWeb(t, "")
	open := make(chan struct{})
	hasPrerendered := make(chan struct{}, 1)
	pages := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/prerendered":
			hasPrerendered <- struct{}{}
		case "/opened":
			<-open
		case "/start":
			out.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(out, `<!doctype html><a href="/article">next</a>
				<script type="speculationrules">{"prerender":[{"urls":["/article"],"eagerness":"immediate"}]}</script>
				<script>fetch("/opened").then(()=>document.querySelector("a").click())</script>`)
		case "/article":
			out.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(out, `<!doctype html><script defer src="%s" data-site="%s"></script>
				<script defer>addEventListener("load",()=>document.prerendering&&fetch("/prerendered"))</script>`,
				w.script, w.site.WriteKey)
		}
	}))
	defer pages.Close()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(pages.URL, "http://"))
	w.Must(err)
	w.OpenUncontrolled("http://news.test:" + port + "/start")
	select {
	case <-hasPrerendered: // the tracker has run
	case <-time.After(30 * time.Second):
		t.Fatal("the browser did not prerender the page")
	}
	w.awaits(map[string]int64{"/article": 0})
	close(open)
	w.awaits(map[string]int64{"/article": 1})
	if got := w.filtered(w.site, "/article"); len(got) > 0 {
		t.Errorf("got %v filtered, want nothing", got)
	}
}

// A page that is opened in the background counts when it becomes visible.
func TestTracker_WaitsForVisibility(t *testing.T) {
	w := openWeb(t, "")
	tab := w.Open(`window.seen="hidden";Object.defineProperty(document,"hidden",{get:()=>window.seen=="hidden"})`)
	tab.Go(w.page("/later"))
	w.settle(tab, "still hidden")
	w.awaits(map[string]int64{"/later": 0})
	tab.Eval(`window.seen="visible";document.dispatchEvent(new Event("visibilitychange"))`)
	w.awaits(map[string]int64{"/later": 1})
}

func TestTracker_RespectsOptOut(t *testing.T) {
	w := openWeb(t, "")
	for name, script := range map[string]string{
		"storage": `try{localStorage.dateline_optout="1"}catch(e){}`,
		"GPC":     `Object.defineProperty(Navigator.prototype,"globalPrivacyControl",{get:()=>true})`,
		"DNT":     `Object.defineProperty(Navigator.prototype,"doNotTrack",{get:()=>"1"})`,
	} {
		tab := w.Open(script + `;window.sent=0;navigator.sendBeacon=()=>{sent++;return true};window.fetch=()=>{sent++}`)
		tab.Go(w.page("/" + name))
		tab.Await("typeof dateline=='function'")
		tab.Eval(`dateline("conversion")`)
		if got := tab.Eval("sent"); got != "0" {
			t.Errorf("%s: %s hits are sent", name, got)
		}
	}
}

// Without sendBeacon the tracker uses fetch; it reports webdriver.
func TestTracker_OtherBrowsers(t *testing.T) {
	w := openWeb(t, "")
	tab := w.Open(`navigator.sendBeacon=undefined`)
	tab.Go(w.page("/fetched"))
	w.awaits(map[string]int64{"/fetched": 1})
	driven := w.Open(`Object.defineProperty(Navigator.prototype,"webdriver",{get:()=>true})`)
	driven.Go(w.page("/driven"))
	for until := time.Now().Add(30 * time.Second); w.filtered(w.site,
		"/driven")["automation"] != 1; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%v", w.filtered(w.site, "/driven"))
		}
	}
	w.awaits(map[string]int64{"/driven": 0})
}

// A cookie distinguishes readers behind one address; where cookies are blocked, readers
// are still counted.
func TestTracker_Cookies(t *testing.T) {
	w := openWeb(t, "data-cookie", func(s *site.Site) { s.Visitors = site.Cookie })
	for i := range 3 {
		tab := w.Open()
		tab.Go(w.page("/a"))
		w.awaits(map[string]int64{"/a": int64(i + 1)})
		if cookie := tab.Eval("document.cookie"); !strings.HasPrefix(cookie, "_dl=") {
			t.Errorf("the cookie is %q", cookie)
		}
		tab.Call("Page.reload", nil)
		tab.Await("document.readyState=='complete'")
		w.settle(tab, fmt.Sprint("reloaded ", i))
		w.awaits(map[string]int64{"/a": int64(i + 1)})
	}
	for range 2 {
		tab := w.Open(
			`Object.defineProperty(document,"cookie",{get:()=>"",set:()=>{}});Object.defineProperty(window,"localStorage",{get(){throw new DOMException("blocked","SecurityError")}})`)
		tab.Go(w.page("/a"))
		tab.Await("typeof dateline=='function'")
		w.awaits(map[string]int64{"/a": 4})
	}
}
