package botfilter_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/audience/botfilter"
	"dateline/internal/testing/enginetest"
)

func newMatcher(t testing.TB) *botfilter.Matcher {
	t.Helper()
	m, err := botfilter.New()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// known returns the user agents of the public list of robots.
func known(t testing.TB) (agents []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(enginetest.Packages(t, "testdata/agents"), "node_modules",
		"crawler-user-agents", "crawler-user-agents.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Instances []string `json:"instances"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		agents = append(agents, one.Instances...)
	}
	if len(agents) < 2000 {
		t.Fatalf("the list has %d agents only", len(agents))
	}
	return agents
}

// browsers returns user agents of browsers that are easily mistaken for bots.
func browsers(t testing.TB) (agents []string) {
	t.Helper()
	raw, err := os.ReadFile("testdata/browsers.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			agents = append(agents, line)
		}
	}
	return agents
}

func TestMatcher_DetectsKnownBots(t *testing.T) {
	m := newMatcher(t)
	agents := known(t)
	var missed []string
	for _, agent := range agents {
		if m.MatchAgent(agent) == "" {
			missed = append(missed, agent)
		}
	}
	t.Logf("%d of %d known robots caught", len(agents)-len(missed), len(agents))
	if len(missed)*100 > len(agents) {
		t.Errorf("more than 1 %% of %d known robots pass:\n%s", len(agents), strings.Join(missed, "\n"))
	}
}

func TestMatcher_PassesBrowsers(t *testing.T) {
	m := newMatcher(t)
	agents := browsers(t)
	if len(agents) < 47 {
		t.Fatalf("only %d browsers", len(agents))
	}
	lost := 0
	for _, agent := range agents {
		if reason := m.MatchAgent(agent); reason != "" {
			lost++
			t.Logf("%s: %s", reason, agent)
		}
	}
	t.Logf("%d of %d unusual browsers were classified as bots", lost, len(agents))
	if lost > 2 {
		t.Errorf("%d of %d browsers were classified as bots, want 0", lost, len(agents))
	}
}

func TestMatcher_ReasonPerToken(t *testing.T) {
	m := newMatcher(t)
	const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
		"Chrome/120.0.0.0 Safari/537.36"
	for agent, want := range map[string]botfilter.Reason{
		chrome: "",
		"Mozilla/5.0 (compatible; Googlebot/2.1; " +
			"+http://www.google.com/bot.html)": botfilter.Crawler,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; " +
			"+https://openai.com/gptbot)": botfilter.AI,
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)": botfilter.Preview,
		"TelegramBot (like TwitterBot)":                                             botfilter.Preview,
		strings.Replace(chrome, "Chrome", "HeadlessChrome", 1):                      botfilter.Headless,
		"curl/8.5.0":                        botfilter.Library,
		"GOOGLEBOT":                         botfilter.Crawler,
		"":                                  botfilter.NoBrowser,
		"Mozilla/5.0":                       botfilter.NoBrowser,
		"Mozilla/5.0 (Windows NT 10.0)":     botfilter.NoBrowser,
		"Cubot":                             botfilter.Crawler,
		chrome + " Cubot Googlebot/2.1":     botfilter.Crawler,
		chrome + " Pingdom.com_bot_version": botfilter.Monitor,
	} {
		for range 2 { // the second time from the cache
			if got := m.MatchAgent(agent); got != want {
				t.Errorf("%q: got %q, want %q", agent, got, want)
			}
		}
	}
}

// Programs are found where they name themselves, and nowhere else: not in models,
// carriers, versions and ids, nor as a part of another word.
func TestMatcher_PlacesOfNames(t *testing.T) {
	const (
		android = "Mozilla/5.0 (Linux; Android 14; SM-A165F Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, " +
			"like Gecko) Version/4.0 " +
			"Chrome/142.0.0.0 Mobile Safari/537.36"
		iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Mobile/15E148"
		desktop = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 " +
			"Safari/537.36"
	)
	inKHTML := func(name string) string { return strings.Replace(desktop, "like Gecko", "like Gecko; "+name, 1) }
	inSystem := func(name string) string { return strings.Replace(desktop, "x86_64", "x86_64; "+name, 1) }
	model := func(name string) string {
		return "Mozilla/5.0 (Linux; Android 4.2.1; " + name + ") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/70.0 " +
			"Mobile Safari/537.36"
	}
	m := newMatcher(t)
	for _, agent := range []string{
		iphone + " (Ecosia ios@11.0.0)",
		android + " AliApp(LA/7.50.0) TTID/600000@lazada_android_7.50.0",
		iphone + " Instagram 330.0.3 (iPhone14,3; iOS 17_5; en_IR@calendar=gregorian; en; scale=3.00)",
		android + " CamScanner/6.70.0",
		model("MAJESTIC Zeus21"),
		model("HTC Desire 22 pro; htc_botdugls"),
		model("GLX SpiderI Build/KOT49H"),
		model("VR BOT 552 PLUS"),
		model("Moto G (4) Crawler"),
		model("CUBOT"),
		strings.ToLower(model("cubot echo")),
		android + " [FB_IAB/FB4A;FBAV/441.0.0.23.108;IABMV/1;FBCR/OrangeBotswana;]",
		android + " [FB_IAB/FB4A;FBAV/441.0.0.23.108;FBCR/Go Bot Mobile;]",
		android + " Instagram 237.0.0.14 Android (31/12; 480dpi; CUBOT; CUBOT X19; vi_VN)",
		"[FBAN/FB4A;FBAV/600.0.0.0.1;FBBV/1;FBPN/com.facebook.katana;FBDV/SM-A165F;FBSV/15]",
		"LightSpeed [FBAN/MessengerLiteForiOS;FBAV/255.0.0.30;FBDV/iPhone10,4;FBMD/iPhone;FBSN/iOS]",
		"TV Bro/1.0 Mozilla/5.0 (Linux; Android 9; X; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 " +
			"Chrome/120.0 Safari/537.36",
		"BrightSign/8.2.35.4 (XT1144-PP) " + desktop,
		"Mozilla/5.0 Linux; Android 14; SM-A165F AppleWebKit/537.36 KHTML, like Gecko Chrome/142.0.0.0 Mobile " +
			"Safari/537.36",
		"Mozilla/5.0 iPhone; CPU iPhone OS 18_1 like Mac OS X AppleWebKit/605.1.15 KHTML, like Gecko Mobile/15E148",
		"Dalvik/2.1.0 (Linux; U; Android 9; SM-G965U Build/PPR1.180610.011)",
		"VnExpress/4.1 (iPhone; iOS 17.0; Scale/3.00)", "Mozilla/5.0 (compatible; IBrowse 3.0; AmigaOS4.0)",
		"SAGEM-myV-55/2.0 Profile/MIDP-2.0 Configuration/CLDC-1.0 UP.Browser/6.2.2.6.d.3.100 (GUI) MMP/1.0",
		strings.ToLower(android),
	} {
		if got := m.MatchAgent(agent); got != "" {
			t.Errorf("%q: a person was filtered as %s", agent, got)
		}
	}
	for _, agent := range []string{
		desktop + " CloudflareObservatory/1.0",
		desktop + " Catchpoint",
		inSystem("Catchpoint"),
		model("en-us; Catchpoint"),
		model("Nexus 5X Build/MMB29P; Storebot-Google/1.0"),
		model("Nexus 5X; AdsBot-Google; +http://www.google.com/bot.html"),
		inKHTML("compatible; GoogleAgent-Mariner"),
		inKHTML("Google Search Console"),
		inKHTML("Some Future Thing"),
		desktop + "; Devin/1.0; +devin.ai",
		desktop + "; Rover/2; +rover.example",
		desktop + " (contact: ops@probe.example)",
		desktop + " NewsScan",
		android + " [FB_IAB/Orca-Android;FBAV/300.1.0.28;FBCR/VN VINAPHONE;] Examplebot",
		android + " Zalo android/481 Examplebot",
		"site.ai/scanning " + desktop,
		inSystem("https://top.mail.example/pass"),
		"ModularConnector/1.0 (Linux)",
		"Foo/1.0",
		"wp_is_mobile",
		"ipad",
	} {
		if got := m.MatchAgent(agent); got == "" {
			t.Errorf("%q: a program was counted as a person", agent)
		}
	}
}

func TestMatchRequest_Headers(t *testing.T) {
	m := newMatcher(t)
	person := func(more ...string) http.Header {
		h := http.Header{}
		h.Set("User-Agent", browsers(t)[0])
		h.Set("Accept-Language", "vi-VN,vi;q=0.9")
		for i := 0; i < len(more); i += 2 {
			if more[i+1] == "" {
				h.Del(more[i])
			} else {
				h.Set(more[i], more[i+1])
			}
		}
		return h
	}
	for _, c := range []struct {
		headers http.Header
		want    botfilter.Reason
	}{
		{person(), ""},
		{person("Accept-Language", ""), botfilter.NoLanguage},
		{person("Sec-Purpose", "prefetch;prerender"), botfilter.Prefetch},
		{person("Sec-Purpose", "prefetch"), botfilter.Prefetch},
		{person("Purpose", "Preview"), botfilter.Prefetch},
		{person("X-Moz", "prefetch"), botfilter.Prefetch},
		{person("From", "robot@search.example"), botfilter.DataCenter},
		{person("CF-Worker", "scraper.example"), botfilter.DataCenter},
		{person("User-Agent", "Wget/1.21"), botfilter.Library},
	} {
		if got := m.MatchRequest(c.headers); got != c.want {
			t.Errorf("%v: got %q, want %q", c.headers, got, c.want)
		}
	}
	for _, c := range []struct {
		name, value string
		out         bool
	}{
		{"Sec-GPC", "1", true},
		{"DNT", "1", true},
		{"DNT", "0", false},
		{"Cookie", "a=b; dateline_optout=1", true},
		{"Cookie", "dateline_optout2=1", false},
		{"X", "1", false},
	} {
		if got := botfilter.HasOptedOut(person(c.name, c.value)); got != c.out {
			t.Errorf("%s: %s: opted out is %v", c.name, c.value, got)
		}
	}
}

// Evicted user agents are classified again with the same result.
func TestMatcher_CacheIsBounded(t *testing.T) {
	m := newMatcher(t)
	agents := browsers(t)
	for i := range 40_000 {
		agent := agents[i%len(agents)] + " v" + strings.Repeat("1", i/len(agents)%900)
		if i%3 == 0 {
			agent += " Examplebot"
		}
		if got := m.MatchAgent(agent[:min(len(agent), 1500)]); (got == botfilter.Crawler) != (i%3 == 0 &&
			len(agent) <= 1024) && len(agent) <= 1024 {
			t.Fatalf("%q is %q", agent, got)
		}
	}
}

func FuzzAgent(f *testing.F) {
	m := newMatcher(f)
	for _, agent := range browsers(f) {
		f.Add(agent)
	}
	f.Add("Mozilla/5.0 ((((bot\xff\x00CUBOTbot")
	f.Fuzz(func(t *testing.T, agent string) {
		got := m.MatchAgent(agent)
		if got != "" && !slices.Contains(botfilter.Reasons(), got) {
			t.Errorf("%q is %q", agent, got)
		}
		if again := newMatcher(t).MatchAgent(agent); again != got {
			t.Errorf("%q is %q, and then %q", agent, got, again)
		}
	})
}

// BenchmarkAgent prints the median time of classifying a new user agent, of bots and
// browsers, and of one that is in the cache.
func BenchmarkAgent(b *testing.B) {
	agents := append(known(b), browsers(b)...)
	for _, c := range []struct {
		name string
		seen bool
	}{{"first", false}, {"again", true}} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				b.StopTimer()
				m := newMatcher(b)
				b.StartTimer()
				for round := range 2 {
					for _, agent := range agents {
						from := time.Now()
						m.MatchAgent(agent)
						if (round == 1) == c.seen {
							took = append(took, time.Since(from))
						}
					}
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "median-ns")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
		})
	}
}
