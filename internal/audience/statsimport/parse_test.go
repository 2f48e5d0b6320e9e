package statsimport

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/audience/counter"
)

// The columns of https://www.goatcounter.com/help/export, version 2.
const goatCounterHeader = "2Path,Title,Event,UserAgent,Browser,System,Session,Bot,Referrer,Referrer scheme,Screen " +
	"size,Location,FirstVisit,Date\n"

// values returns the values of a dimension.
func values(d *Data, dimension string) string {
	var found []string
	for key := range maps.Keys(d.Values) {
		if key.Dimension == dimension {
			found = append(found, key.Value)
		}
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}

func TestGoatCounter_UnifiesNames(t *testing.T) {
	for _, c := range []struct{ referrer, scheme, want string }{
		{"https://www.google.com", "c", "google.com"},
		{"https://www.google.com.vn", "o", "google.com"},
		{"https://m.facebook.com", "o", "facebook.com"},
		{"www.google.com/search", "h", "google.com"},
		{"android-app://com.google.android.googlequicksearchbox", "o", "discover.google.com"},
		{"android-app://com.slack", "o", "slack.com"},
		{"Telegram Messenger", "g", "telegram.org"},
		{"Slack Chat", "g", "slack.com"},
		{"Hacker News", "g", "news.ycombinator.com"},
		{"Google", "g", "google.com"},
		{"Baidu", "g", "baidu.com"},
		{"blog.example/post", "h", "blog.example"},
		{"Weekly letter", "c", "weekly letter"},
		{"", "", "direct"},
	} {
		d, err := parseGoatCounter([]byte(goatCounterHeader+"/a,A,false,,Firefox 119,Linux,1,0,"+c.referrer+","+
			c.scheme+",,VN,true,2025-03-01T10:00:00Z\n"), time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if got := values(d, counter.Source); got != c.want {
			t.Errorf("%q (%s): got the source %s, want %s", c.referrer, c.scheme, got, c.want)
		}
	}
	for _, c := range []struct{ browser, system, want string }{
		{"Firefox 119", "Chrome OS 14.5", "Firefox|ChromeOS"},
		{"Samsung Internet 23", "Android 13", "Samsung Internet|Android"},
		{"Chrome Mobile 120", "macOS 10.15", "Chrome|macOS"},
		{"Microsoft Edge", "Mac", "Edge|macOS"},
		{"coc coc", "GNU/Linux", "Cốc Cốc|Linux"},
		{"CocCoc Browser", "Mac OS X", "Cốc Cốc|macOS"},
		{"Safari (in-app)", "iPadOS 17", "Safari|iOS"},
		{"Mobile Safari", "Windows 11", "Safari|Windows"},
		{"Android Webview", "Chromium OS", "Chrome|ChromeOS"},
		{"Vivaldi 6", "Haiku", "Vivaldi|Haiku"},
	} {
		d, err := parseGoatCounter([]byte(goatCounterHeader+"/a,A,false,,"+c.browser+","+c.system+
			",1,0,,,,VN,true,2025-03-01T10:00:00Z\n"), time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if got := values(d, counter.Browser) + "|" + values(d, counter.OS); got != c.want {
			t.Errorf("%s on %s: got %s, want %s", c.browser, c.system, got, c.want)
		}
	}
}

// Without sessions nobody knows how many visits there were.
func TestGoatCounter_WithoutSessions(t *testing.T) {
	const rows = "/a,A,false,,Firefox 119,Linux,,0,,,,VN,true,2025-03-01T10:00:00Z\n" +
		"//b,B,0,,Firefox 119,Linux,0-0,0,,o,,VN,1,2025-03-01T10:01:00Z\n" + // as version 2.7 writes it
		"/a,A,false,,Firefox 119,Linux,7,0,,,,VN,true,2025-03-02T10:00:00Z\n"
	d, err := parseGoatCounter([]byte(goatCounterHeader+rows), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	first := counter.DayOf(time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC))
	if got, want := d.Days[first], (Totals{Views: 2, WithoutVisits: true}); got != want {
		t.Errorf("without sessions: got %+v, want %+v", got, want)
	}
	if got, want := d.Days[first+1], (Totals{Views: 1, Visitors: 1, Visits: 1, Bounces: 1}); got != want {
		t.Errorf("with sessions: got %+v, want %+v", got, want)
	}
	if got := d.Pages[PageDay{first, "/b"}]; got != (PageTotals{Views: 1}) {
		t.Errorf("/b: got %+v, want one view", got)
	}
}

// GoatCounter stores page views only if its operator turned that on; the file of one that
// does not is empty, or has bots and events alone.
func TestGoatCounter_ExplainsEmptyExports(t *testing.T) {
	for name, file := range map[string]string{
		"empty": "", "line end": "\r\n", "header": goatCounterHeader,
		"event": goatCounterHeader + "subscribe,,1,,Firefox 140,Linux ,1,0,,o,\"0,0,1\",VN,1,2025-03-01T00:00:00Z\n",
	} {
		_, err := parseGoatCounter([]byte(file), time.UTC)
		if err == nil || !strings.Contains(err.Error(), "Individual pageviews") {
			t.Errorf("%s: got %v, want the name of GoatCounter's setting", name, err)
		}
	}
}

// The rows are those that Plausible's query of days returned on ClickHouse 26.9.2 with
// join_use_nulls, in the zone Asia/Ho_Chi_Minh.
func TestPlausible_ReadsMissingValues(t *testing.T) {
	t.Parallel()
	d, err := parsePlausible(plausibleArchive(t, map[string]string{
		"imported_visitors_20260101_20260103.csv": "\"date\",\"visitors\",\"pageviews\",\"bounces\",\"visits\"\n" +
			"\"2026-01-01\",1,1,1,1\n\"2026-01-02\",1,\\N,0,1\n\"2026-01-03\",\\N,1,\\N,\\N\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	first := counter.DayOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for day, want := range map[counter.Day]Totals{
		first:     {Views: 1, Visitors: 1, Visits: 1, Bounces: 1},
		first + 1: {Visitors: 1, Visits: 1},
		first + 2: {Views: 1},
	} {
		if got := d.Days[day]; got != want {
			t.Errorf("day %d: got %+v, want %+v", day-first, got, want)
		}
	}
}

// plausibleArchive packs files as Plausible does: uncompressed.
func plausibleArchive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var raw bytes.Buffer
	z := zip.NewWriter(&raw)
	for name, text := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return raw.Bytes()
}

func TestPlausible_UnifiesNames(t *testing.T) {
	d, err := parsePlausible(plausibleArchive(t, map[string]string{
		"imported_visitors_20250301_20250301.csv": "date,visitors,pageviews,bounces,visits,visit_duration\n" +
			"2025-03-01,5,9,1,6,1\n",
		"imported_browsers_20250301_20250301.csv": "date,browser,browser_version,visitors,visits,visit_duration,bounces,pageviews\n" +
			"2025-03-01,Microsoft Edge,120,1,1,1,1,1\n2025-03-01,coc coc,117,1,1,1,1,1\n2025-03-01,Mobile " +
			"App,1,1,1,1,1,1\n",
		"imported_operating_systems_20250301_20250301.csv": "date,operating_system,operating_system_version,visitors,visits,visit_duration,bounces,pageviews\n" +
			"2025-03-01,Mac,14,1,1,1,1,1\n2025-03-01,Chrome OS,14,1,1,1,1,1\n",
		"imported_sources_20250301_20250301.csv": "date,source,referrer,utm_source,utm_medium,utm_campaign,utm_content,utm_term,pageviews,visitors,visits,visit_duration,bounces\n" +
			"2025-03-01,google news,,,,,,,1,1,1,1,1\n2025-03-01,coc coc,,,,,,,1,1,1,1,1\n" +
			"2025-03-01,Twitter,,,,,,,1,1,1,1,1\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for dimension, want := range map[string]string{
		counter.Browser: "Cốc Cốc, Edge, Mobile App",
		counter.OS:      "ChromeOS, macOS",
		counter.Source:  "coccoc.com, news.google.com, x.com",
	} {
		if got := values(d, dimension); got != want {
			t.Errorf("%s: got %s, want %s", dimension, got, want)
		}
	}
}

func TestGunzip_CompressedFiles(t *testing.T) {
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	_, _ = z.Write([]byte(goatCounterHeader))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range [][]byte{compressed.Bytes(), []byte(goatCounterHeader)} {
		if got, err := gunzip(file); err != nil || string(got) != goatCounterHeader {
			t.Errorf("got %q, %v", got, err)
		}
	}
	for _, file := range [][]byte{compressed.Bytes()[:20], {0x1f, 0x8b}} {
		if _, err := gunzip(file); err == nil {
			t.Errorf("%q was read", file)
		}
	}
}
