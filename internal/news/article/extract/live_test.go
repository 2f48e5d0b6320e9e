package extract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
)

const (
	liveSummary = "The storm made landfall north of the city on Saturday morning and is moving inland, the weather " +
		"service said. Schools and the airport are closed until further notice."
	liveBody = "Rescue teams reached the villages along the river after a night of heavy rain, officials said, and " +
		"moved forty families to a school."
)

// livePage returns a page with entries of the form that a function writes.
func livePage(head, title, lang string, entries string) extract.Page {
	return extract.Page{
		URL: "https://news.example/world/storm", Now: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC),
		HTML: []byte(`<html lang="` + lang + `"><head><title>` + title + `</title>` + head + `</head><body><header><nav>
			<a href="/">Home</a> <a href="/world">World</a></nav></header><main><h1>` + title + `</h1>
			<div class="story-body"><p>` + liveSummary + `</p><p>Twelve people are missing, according to the governor's
			office, which asked residents to stay at home.</p></div>` + entries + `</main></body></html>`),
	}
}

func TestLive_SeparatesSummaryAndEntries(t *testing.T) {
	t.Parallel()
	var entries strings.Builder
	for i := range 5 {
		fmt.Fprintf(&entries, `<article class="live-entry" id="e%d"><time datetime="2026-11-28T%02d:30:00+01:00">%02d:30</time>
			<h3>Update number %d</h3><p>%s It was the %dth hour.</p><p>More is expected, they said.</p>
			<div class="share-bar"><a href="/share">Share this update</a></div></article>`, i, 14-i, 14-i, i, liveBody, i)
	}
	updates := `<script type="application/ld+json">{"@type": "LiveBlogPosting", "headline": "Storm: live",
		"datePublished": "2026-11-28T08:00:00+01:00", "liveBlogUpdate": [{"@type": "BlogPosting",
		"headline": "Update number 0", "datePublished": "2026-11-28T14:31:00+01:00"}]}</script>`
	a := read(t, livePage(updates, "Storm: live", "en", `<div class="entries">`+entries.String()+`</div>`))
	if !strings.Contains(a.Text, "Twelve people") || strings.Contains(a.Text, "Rescue teams") {
		t.Errorf("the summary is %q", a.Text)
	}
	if len(a.Live) != 5 {
		t.Fatalf("%d entries, want 5: %+v", len(a.Live), a.Live)
	}
	first, second := a.Live[0], a.Live[1]
	if first.Title != "Update number 0" || first.Key != "e0" || !strings.HasPrefix(first.Text, liveBody) ||
		!strings.Contains(first.Text, "More is expected") || strings.Contains(first.Text, "Share") ||
		strings.Contains(first.Text, "14:30") || !strings.HasPrefix(first.HTML, "<p>") {
		t.Errorf("the first entry is %+v", first)
	}
	if want := time.Date(2026, 11, 28, 13, 31, 0, 0, time.UTC); !first.Time.Equal(want) {
		t.Errorf("the first entry is of %v, want the time in JSON-LD, %v", first.Time, want)
	}
	if want := time.Date(2026, 11, 28, 12, 30, 0, 0, time.UTC); !second.Time.Equal(want) {
		t.Errorf("the second entry is of %v, want that of its element, %v", second.Time, want)
	}
	if got := a.Published.UTC(); got.Hour() != 7 {
		t.Errorf("published at %v, want the time of the live blog", got)
	}
}

func TestLive_TimesOfDay(t *testing.T) {
	t.Parallel()
	at := func(day, hour, minute int) time.Time {
		return time.Date(2026, 11, day, hour, minute, 0, 0, time.FixedZone("", 7*3600)).UTC()
	}
	for name, c := range map[string]struct {
		clocks []string
		want   []time.Time
	}{
		"the newest first, over midnight": {
			[]string{"01:20", "00:05", "23h40", "22h15"},
			[]time.Time{at(28, 1, 20), at(28, 0, 5), at(27, 23, 40), at(27, 22, 15)},
		},
		"the oldest first, over midnight": {
			[]string{"22:15", "23:40", "00:05", "01:20"},
			[]time.Time{at(29, 1, 20), at(29, 0, 5), at(28, 23, 40), at(28, 22, 15)},
		},
		"of one day": {
			[]string{"15:20", "14:05", "13:40"},
			[]time.Time{at(28, 15, 20), at(28, 14, 5), at(28, 13, 40)},
		},
	} {
		var entries strings.Builder
		for i, clock := range c.clocks {
			fmt.Fprintf(&entries, `<div class="item-live"><span class="gio">%s</span><div><p>Diễn biến %d. %s</p></div></div>`,
				clock, i, liveBody)
		}
		p := livePage(`<meta property="article:published_time" content="2026-11-28T01:00:00+07:00">
			<meta property="article:modified_time" content="2026-11-28T17:00:00+07:00">`,
			"Trực tiếp: bão đổ bộ miền Trung", "vi", entries.String())
		p.Zone = time.FixedZone("", 7*3600)
		a := read(t, p)
		if len(a.Live) != len(c.want) {
			t.Errorf("%s: %d entries, want %d", name, len(a.Live), len(c.want))
			continue
		}
		for i, e := range a.Live {
			if !e.Time.Equal(c.want[i]) {
				t.Errorf("%s: entry %d is of %v, want %v", name, i, e.Time, c.want[i])
			}
			if !strings.HasPrefix(e.Text, "Diễn biến") {
				t.Errorf("%s: entry %d is %q", name, i, e.Text)
			}
		}
		if strings.Contains(a.Text, "Diễn biến") || !strings.Contains(a.Text, "Twelve people") {
			t.Errorf("%s: the summary is %q", name, a.Text)
		}
	}
}

func TestLive_OtherListsAreNoEntries(t *testing.T) {
	t.Parallel()
	list := func(each string) string {
		var out strings.Builder
		for i := range 6 {
			fmt.Fprintf(&out, each, i, 10+i)
		}
		return out.String()
	}
	for name, c := range map[string]struct{ title, entries string }{
		"headlines with times": {
			"Live: the storm", list(`<div class="item"><a href="/a%d">A long headline of another article of today</a>
				<time datetime="2026-11-28T%d:00:00Z"></time></div>`),
		},
		"readers' comments": {
			"Live: the storm", `<div class="comments">` + list(`<div class="comment"><b>Reader %d</b> <span>%d:05</span><p>`+
				liveBody+`</p></div>`) + `</div>`,
		},
		"a timeline in an article": {
			"How the storm grew", list(`<div class="item" id="x%d"><span>%d:05</span><p>` + liveBody + `</p></div>`),
		},
		"sections without times": {
			"Live: the storm", list(`<div class="item" id="x%d"><h3>Part %d</h3><p>` + liveBody + `</p></div>`),
		},
	} {
		if a := read(t, livePage("", c.title, "en", c.entries)); len(a.Live) != 0 {
			t.Errorf("%s: %d entries, want none", name, len(a.Live))
		}
	}
}

func TestLive_EntriesOfJSONLDAlone(t *testing.T) {
	t.Parallel()
	var updates []string
	for i := range 3 {
		updates = append(updates, fmt.Sprintf(`{"@type": "BlogPosting", "url": "https://news.example/world/storm#p%d",
			"articleBody": "&lt;p&gt;Part %d &amp;lt;b&amp;gt;of&lt;/p&gt; the <script>alert(1)</script> storm",
			"datePublished": "2026-11-28T%d:00:00Z"}`, i, i, 10+i))
	}
	a := read(t, livePage(`<script type="application/ld+json">{"@type": "LiveBlogPosting", "headline": "Storm",
		"liveBlogUpdate": [`+strings.ReplaceAll(strings.Join(updates, ","), "</script>", `<\/script>`)+`]}</script>`,
		"Storm", "en", ""))
	if len(a.Live) != 3 || a.Live[0].Key != "p2" || a.Live[0].Time.Hour() != 12 {
		t.Fatalf("got %+v, want three entries, the newest first", a.Live)
	}
	for _, e := range a.Live {
		if strings.Contains(e.HTML, "<b>") || strings.Contains(e.HTML, "<script") || strings.Contains(e.Text, "alert") {
			t.Errorf("the entry is %+v, want text", e)
		}
	}
}

func TestLive_WithoutASummaryAllIsText(t *testing.T) {
	t.Parallel()
	var entries strings.Builder
	for i := range 4 {
		fmt.Fprintf(&entries, `<div class="entry" id="x%d"><span>%d:05</span><p>%s</p></div>`, i, 10+i, liveBody+fmt.Sprint(i))
	}
	p := livePage("", "Live: the storm", "en", entries.String())
	from, to := strings.Index(string(p.HTML), `<div class="story-body">`), strings.Index(string(p.HTML), `<div class="entry"`)
	p.HTML = append(p.HTML[:from:from], p.HTML[to:]...)
	a := read(t, p)
	if len(a.Live) != 0 || strings.Count(a.Text, "Rescue teams") != 4 {
		t.Errorf("%d entries and the text %q, want all as text", len(a.Live), a.Text)
	}
}

func TestMergeLiveEntries(t *testing.T) {
	t.Parallel()
	entry := func(key string, minute int) article.LiveEntry {
		e := article.LiveEntry{Key: key, Text: key}
		if minute > 0 {
			e.Time = time.Date(2026, 11, 28, 10, minute, 0, 0, time.UTC)
		}
		return e
	}
	before := []article.LiveEntry{entry("c", 30), entry("b", 20), entry("a", 10)}
	for name, c := range map[string]struct {
		page []article.LiveEntry
		want string
	}{
		"a new one; the oldest left the page": {[]article.LiveEntry{entry("d", 40), entry("c", 30), entry("b", 20)}, "dcba"},
		"one in between was removed":          {[]article.LiveEntry{entry("d", 40), entry("b", 20)}, "dba"},
		"the page has none":                   {nil, "cba"},
		"without times":                       {[]article.LiveEntry{entry("x", 0), entry("y", 0)}, "xy"},
		"one was moved to an earlier time":    {[]article.LiveEntry{entry("c", 30), entry("a", 5)}, "ca"},
	} {
		got := ""
		for _, e := range article.MergeLiveEntries(before, c.page) {
			got += e.Key
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestLive_EntriesHaveDifferentKeys(t *testing.T) {
	t.Parallel()
	var entries strings.Builder
	for i := range 4 {
		fmt.Fprintf(&entries, `<div class="entry" id="entry"><span>%d:05</span><p>%s</p></div>`, 10+i, liveBody)
	}
	keys := map[string]bool{}
	for _, e := range read(t, livePage("", "Live: the storm", "en", entries.String())).Live {
		keys[e.Key] = true
	}
	if len(keys) != 4 {
		t.Errorf("%d different keys, want 4: %v", len(keys), keys)
	}
}

func TestLive_DeclaredInMicrodata(t *testing.T) {
	t.Parallel()
	var entries strings.Builder
	for i := range 3 {
		fmt.Fprintf(&entries, `<div class="entry" id="n%d"><div class="info"><time>%d:05</time><span>Anna Reporter</span></div>
			<p>%s</p></div>`, i, 12-i, liveBody)
	}
	p := livePage(`<meta property="article:modified_time" content="2026-11-28T12:10:00Z">`, "The storm in the north", "en",
		`<div itemscope itemtype="https://schema.org/LiveBlogPosting">`+entries.String()+`</div>`)
	a := read(t, p)
	if len(a.Live) != 3 || strings.Contains(a.Text, "Rescue teams") {
		t.Fatalf("%d entries and the text %q, want three", len(a.Live), a.Text)
	}
	for i, e := range a.Live {
		if e.Text != liveBody || !e.Time.Equal(time.Date(2026, 11, 28, 12-i, 5, 0, 0, time.UTC)) {
			t.Errorf("entry %d is %+v, want its text without its line of the time", i, e)
		}
	}
}

// An entry is not part of the text any more, so that a long one must not be left out.
func TestLive_LongEntriesAreComplete(t *testing.T) {
	t.Parallel()
	var entries strings.Builder
	long := strings.Repeat(liveBody+" ", 200)
	for i := range 3 {
		fmt.Fprintf(&entries, `<div class="entry" id="e%d"><span>%d:05</span><p>%s</p></div>`, i, 10+i, long)
	}
	a := read(t, livePage("", "Live: the storm", "en", entries.String()))
	if len(a.Live) != 3 || len(a.Live[0].Text) < len(long)-1 {
		t.Fatalf("%d entries, want three complete ones", len(a.Live))
	}
}
