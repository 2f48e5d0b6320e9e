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
	raw, err := os.ReadFile(filepath.Join(enginetest.Packages(t, "testdata/agents"), "node_modules", "crawler-user-agents", "crawler-user-agents.json"))
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
	const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"
	for agent, want := range map[string]botfilter.Reason{
		chrome: "",
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)":                               botfilter.Crawler,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)": botfilter.AI,
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)":                              botfilter.Preview,
		"TelegramBot (like TwitterBot)":                        botfilter.Preview,
		strings.Replace(chrome, "Chrome", "HeadlessChrome", 1): botfilter.Headless,
		"curl/8.5.0":                        botfilter.Library,
		"GOOGLEBOT":                         botfilter.Crawler,
		"":                                  botfilter.NoBrowser,
		"Mozilla/5.0":                       botfilter.NoBrowser,
		"Mozilla/5.0 (Windows NT 10.0)":     botfilter.NoBrowser,
		"Cubot":                             botfilter.NoBrowser,
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
	}{{"Sec-GPC", "1", true}, {"DNT", "1", true}, {"DNT", "0", false}, {"Cookie", "a=b; dateline_optout=1", true}, {"Cookie", "dateline_optout2=1", false}, {"X", "1", false}} {
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
		if got := m.MatchAgent(agent[:min(len(agent), 1500)]); (got == botfilter.Crawler) != (i%3 == 0 && len(agent) <= 1024) && len(agent) <= 1024 {
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
