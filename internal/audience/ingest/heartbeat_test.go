package ingest_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/testing/enginetest"
)

func (d *fixture) concurrents(s site.Site) int64 {
	d.t.Helper()
	n, err := d.Counter.Concurrents(d.t.Context(), s.ID)
	d.Must(err)
	return n
}

func TestHeartbeat_ReachesItsView(t *testing.T) {
	d := open(t)
	s, _ := d.Site(func(s *site.Site) { s.RateHits = 3 })
	heartbeat := func(rest string, headers ...string) answer {
		return d.send("POST", "/v1/heartbeat", `{"site":"`+s.WriteKey+`","page":"/a",`+rest+`}`, headers...)
	}
	expect := func(what string, a answer, reading int64) {
		t.Helper()
		if got := d.concurrents(s); a.StatusCode != http.StatusAccepted || got != reading {
			t.Errorf("%s: got %s and %d views being read, want 202 and %d\n%s", what, a.Status, got, reading, a.body)
		}
	}
	if a := d.send("POST", "/v1/view",
		`{"site":"`+s.WriteKey+`","page":"/a","view":"v1"}`); a.StatusCode != http.StatusAccepted {
		t.Fatalf("view: %s %s", a.Status, a.body)
	}
	expect("another view", heartbeat(`"view":"v2","engaged":5000`), 0)
	expect("a bot", heartbeat(`"view":"v1","engaged":5000`, "User-Agent", "Googlebot/2.1"), 0)
	expect("a reader who opted out", heartbeat(`"view":"v1","engaged":5000`, "Sec-GPC", "1"), 0)
	expect("the view", heartbeat(`"type":"heartbeat","view":"v1","engaged":5000,"scroll":40,"hidden":false`,
		"Content-Type", "text/plain"), 1)
	expect("a hidden page", heartbeat(`"view":"v1","engaged":6000,"scroll":40,"hidden":true`), 0)
	expect("above the rate limit", heartbeat(`"view":"v1","engaged":7000`), 0)
	for field, rest := range map[string]string{
		"view": `"engaged":1`, "engaged": `"view":"v1","engaged":-1`,
		"scroll": `"view":"v1","scroll":101`, "type": `"view":"v1","type":"view"`,
	} {
		d.expectProblem(field, heartbeat(rest), http.StatusUnprocessableEntity, "invalid_request", field)
	}
}

// virtualTime replaces the clock and the timers of a page and records what the tracker
// sends. Timers do not run while the computer sleeps.
const virtualTime = `
	window.beats = []; window.views = []; window.focused = true; window.away = false
	let clock = 0, timers = []
	performance.now = () => clock
	window.setTimeout = (run, ms) => timers.push({ at: clock + ms, run })
	window.clearTimeout = (id) => { if (timers[id - 1]) timers[id - 1].run = undefined }
	document.hasFocus = () => focused
	Object.defineProperty(document, "hidden", { get: () => away })
	window.sleep = (ms) => { clock += ms }
	window.pass = (ms) => {
		for (const end = clock + ms;;) {
			const next = timers.filter((t) => t.run && t.at <= end).sort((a, b) => a.at - b.at)[0]
			if (!next) { clock = end; return }
			clock = Math.max(clock, next.at)
			const run = next.run
			next.run = undefined
			run()
		}
	}
	window.read = (ms) => { // some input every three to twelve seconds
		for (let n = 0; ms > 0; n++) {
			const step = Math.min(ms, [3000, 12000, 7000][n % 3])
			pass(step); ms -= step
			dispatchEvent(new Event(["pointermove", "keydown", "scroll"][n % 3]))
		}
	}
	window.leave = (gone) => { away = gone; document.dispatchEvent(new Event("visibilitychange")) }
	navigator.sendBeacon = (u, b) => {
		const body = JSON.parse(b)
		if (u.pathname == "/v1/heartbeat") beats.push({ at: clock, url: body.url, view: body.view, engaged: body.engaged, scroll: body.scroll, hidden: body.hidden })
		if (u.pathname == "/v1/view") views.push(body.view)
		fetch(u, { method: "POST", body: b, mode: "no-cors", keepalive: true })
		return true
	}`

type sentHeartbeat struct {
	At, Engaged float64
	URL, View   string
	Scroll      int
	Hidden      bool
}

func heartbeatsOf(t *testing.T, tab *enginetest.Tab) (all []sentHeartbeat) {
	t.Helper()
	if err := json.Unmarshal([]byte(tab.Eval("JSON.stringify(beats)")), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// The engaged time of reading with pauses, in another tab, in another window and with
// the computer asleep is within 10% of the actual reading time.
func TestTracker_MeasuresEngagedTime(t *testing.T) {
	w := openWeb(t, "")
	// The server's clock is 15 minutes behind while the view is counted, so that it has
	// lasted as long as its heartbeats say.
	var isLater atomic.Bool
	w.Ingest.Now = func() time.Time {
		if isLater.Load() {
			return time.Now()
		}
		return time.Now().Add(-15 * time.Minute)
	}
	tab := w.Open(virtualTime)
	tab.Go(w.page("/long"))
	tab.Await("views.length==1")
	w.awaits(map[string]int64{"/long": 1})
	isLater.Store(true)
	tab.Eval("read(60000)")
	var at []float64
	for _, b := range heartbeatsOf(t, tab) {
		at = append(at, b.At)
	}
	if fmt.Sprint(at) != "[5000 15000 30000 60000]" {
		t.Errorf("heartbeats were sent at %v ms, want 5, 15, 30 and 60 s", at)
	}
	tab.Eval("read(140000);leave(true);pass(120000);leave(false)") // 200 s, then another tab
	tab.Eval("read(50000);focused=false;dispatchEvent(new Event('blur'));pass(300000);focused=true;dispatchEvent(new " +
		"Event('focus'))")
	tab.Eval("read(50000);sleep(3600000);pass(100)") // asleep for an hour
	tab.Eval("read(60000);leave(true);leave(true);dispatchEvent(new Event('pagehide'))")
	beats := heartbeatsOf(t, tab)
	last := beats[len(beats)-1]
	if want := 360_000.0; math.Abs(last.Engaged-want) > 0.1*want || !last.Hidden {
		t.Errorf("got %+v, want about %v ms and hidden", last, want)
	}
	hidden := 0
	for i, b := range beats {
		if i > 0 && b.Engaged < beats[i-1].Engaged {
			t.Errorf("the total fell from %v to %v", beats[i-1].Engaged, b.Engaged)
		}
		if b.Hidden {
			hidden++
		}
	}
	if hidden != 2 {
		t.Errorf("%d heartbeats say that the page was hidden, want 2: %+v", hidden, beats)
	}
	t.Logf("measured %.1f s of 360 s with %d heartbeats", last.Engaged/1000, len(beats))
	// The stored bucket contains the time, although some of the heartbeats were sent twice.
	tab.Eval(
		`for(const b of beats.slice(-3))fetch(new URL("/v1/heartbeat",document.querySelector("script[data-site]").src),{method:"POST",mode:"no-cors",
		body:JSON.stringify({site:document.querySelector("script[data-site]").dataset.site,url:b.url,view:b.view,engaged:Math.round(b.engaged),scroll:b.scroll,hidden:b.hidden})})`)
	w.expectEngaged("/long", 360*time.Second, last.Scroll)
	// Without a reader, nothing is sent.
	tab.Eval("leave(false);pass(60000)")
	n := len(heartbeatsOf(t, tab))
	tab.Eval("pass(3600000)")
	if got := len(heartbeatsOf(t, tab)); got != n {
		t.Errorf("%d heartbeats were sent without a reader", got-n)
	}
}

// expectEngaged checks that the only view of a page is stored with an engaged time and
// a scroll depth.
func (w *web) expectEngaged(page string, engaged time.Duration, scroll int) {
	w.t.Helper()
	var sum *counter.EngagementDelta
	got := ""
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		w.Must(w.Counter.Aggregate(w.t.Context()))
		for shard := range w.Counter.Shards() {
			w.Must(w.Counter.MarkSeeded(w.t.Context(), shard))
			id := uuid.New()
			_, err := w.Counter.TakeBatch(w.t.Context(), shard, id)
			w.Must(err)
			batch, err := w.Counter.ReadBatch(w.t.Context(), shard, id)
			w.Must(err)
			for _, d := range batch.Deltas {
				for i := range d.Engagement {
					if d.Page == page {
						sum = sum.Plus(&d.Engagement[i])
					}
				}
			}
		}
		if sum == nil {
			continue
		}
		// The bounds of the highest bucket that contains the view.
		bucket := 0
		for bucket+1 < counter.EngagedBuckets && sum.Engaged[bucket+1] > 0 {
			bucket++
		}
		bound := func(i int) time.Duration {
			return time.Duration(math.Pow(counter.MaxEngaged.Seconds(),
				float64(i)/counter.EngagedBuckets) * float64(time.Second))
		}
		got = fmt.Sprint(bound(bucket), " to ", bound(bucket+1), ", scrolled ", sum.Scrolled)
		want := [counter.ScrollSteps]int64{}
		for i := range scroll / 25 {
			want[i] = 1
		}
		if sum.Engaged[0] == 1 && bound(bucket) <= engaged && engaged < bound(bucket+1) && sum.Scrolled == want {
			return
		}
	}
	w.t.Errorf("the view of %s is stored as %s, want %s and %d %%", page, got, engaged, scroll)
}

func TestTracker_CountsPlayingMediaAsActivity(t *testing.T) {
	w := openWeb(t, "")
	tab := w.Open(virtualTime)
	tab.Go(w.page("/video"))
	tab.Await("views.length==1")
	tab.Eval(
		`const video=document.body.appendChild(document.createElement("video"));for(let i=0;i<480;i++){pass(250);video.dispatchEvent(new Event("timeupdate"))};leave(true)`)
	beats := heartbeatsOf(t, tab)
	if got := beats[len(beats)-1].Engaged; math.Abs(got-120_000) > 12_000 {
		t.Errorf("got %v ms, want two minutes", got)
	}
}

// The scroll depth is that of the article, not of the comments below it.
func TestTracker_MeasuresScrollDepth(t *testing.T) {
	w := openWeb(t, "")
	tab := w.Open(virtualTime)
	tab.Go(w.page("/long"))
	tab.Await("views.length==1")
	tab.Eval("read(2000)")
	scrollTo := func(share float64) {
		tab.Eval(
			fmt.Sprintf(
				`new Promise(done=>{addEventListener("scroll",done,{once:true});const a=document.querySelector("article");scrollTo(0,a.offsetTop+a.offsetHeight*%v-innerHeight)}).then(()=>1)`, share))
	}
	depth := func(want int) {
		t.Helper()
		tab.Eval("leave(true);leave(false);read(3000)")
		beats := heartbeatsOf(t, tab)
		if got := beats[len(beats)-1].Scroll; got < want-1 || got > want+1 {
			t.Errorf("the depth is %d %%, want %d %%", got, want)
		}
	}
	scrollTo(0.5)
	depth(50)
	scrollTo(0.3)
	depth(50)
	scrollTo(1.5)
	depth(100)
}

// Navigation in a single-page app ends the previous view; a page restored from the
// back-forward cache is a new view.
func TestTracker_NewViewsHaveNewNumbers(t *testing.T) {
	w := openWeb(t, "")
	tab := w.Open(virtualTime)
	tab.Go(w.page("/first"))
	tab.Await("views.length==1")
	tab.Eval(`read(7000);history.pushState({},"","/second");read(4000)`)
	beats := heartbeatsOf(t, tab)
	if last := beats[len(beats)-1]; last.URL != w.page("/first") || math.Abs(last.Engaged-7000) > 100 || !last.Hidden ||
		tab.Eval("views.length==2&&views[0]!=views[1]") != "true" {
		t.Errorf("got %+v, want the end of /first after 7 s", last)
	}
	tab.Eval(`location.href="/other"`)
	tab.Await("location.pathname=='/other'&&views.length==1")
	tab.Eval("history.back()")
	tab.Await("location.pathname=='/second'&&views.length==3")
	beats = heartbeatsOf(t, tab)
	if last := beats[len(beats)-1]; last.URL != w.page("/second") || math.Abs(last.Engaged-4000) > 100 || !last.Hidden {
		t.Errorf("got %+v, want the end of /second after 4 s", last)
	}
	if tab.Eval("read(5000);beats.at(-1).view==views[2]&&views[2]!=views[1]&&beats.at(-1).engaged<6000") != "true" {
		t.Errorf("got %s, want a heartbeat of a new view", tab.Eval("JSON.stringify(beats.at(-1))"))
	}
}

func TestTracker_SendsNoHeartbeatsAfterOptingOut(t *testing.T) {
	w := openWeb(t, "")
	tab := w.Open(virtualTime)
	tab.Go(w.page("/a"))
	tab.Await("views.length==1")
	tab.Eval(`read(20000);localStorage.dateline_optout="1"`)
	n := len(heartbeatsOf(t, tab))
	tab.Eval(`read(600000);leave(true);leave(false);read(60000);history.pushState({},"","/b");read(60000)`)
	if got := len(heartbeatsOf(t, tab)); n == 0 || got != n || tab.Eval("views.length") != "1" {
		t.Errorf("%d heartbeats before and %d after opting out, want none after", n, got-n)
	}
}

// Heartbeats of the tracker reach the view that it sent.
func TestTracker_HeartbeatsReachTheirView(t *testing.T) {
	w := openWeb(t, "")
	tab := w.Open(virtualTime)
	tab.Go(w.page("/long?utm_source=zalo&id=7"))
	w.awaits(map[string]int64{"/long?id=7": 1})
	tab.Eval("read(6000)")
	for until := time.Now().Add(30 * time.Second); w.concurrents(w.site) != 1; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d views are being read, want 1\n%s", w.concurrents(w.site), w.log)
		}
	}
	tab.Eval("leave(true)")
	for until := time.Now().Add(30 * time.Second); w.concurrents(w.site) != 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the hidden page is still being read")
		}
	}
}
