package discover

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dateline/internal/crawl/weburl"
)

func TestTrap(t *testing.T) {
	now := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
	for path, trap := range map[string]bool{
		"/": false, "/thoi-su/gia-vang-4800001.html": false, "/2026/03/07/gia-vang": false, "/lich/2026/3": false, "/lich/2026/4": false, "/a/b/a/b": false,
		"/lich/2026/9": true, "/lich/2031/01": true, "/events/1979-02": true, "/su-kien?month=2027-05&view=list": true,
		"/a/b/a/b/a/b/a/b": true, "/x/x/x/x": true, "/1/2/3/4/5/6/7/8/9/10/11/12/13": true, "/loc?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9": true,
		"/gia-vang-2031-09":  true, // read as a month, and worth the loss
		"/bao-cao-2027.html": false,
	} {
		if reason := Trap(mustParse(t, "https://baomau.example"+path), now); (reason != "") != trap {
			t.Errorf("%s: %q", path, reason)
		}
	}
}

func TestShape(t *testing.T) {
	for path, want := range map[string]string{
		"/": "/", "/thoi-su": "/thoi-su", "/lich/2026/3": "/lich/N/N", "/kinh-doanh/gia-vang-tang-manh-4800001.html": "/kinh-doanh/*N.html",
		"/gia-vang-tang-manh": "/*", "/a?page=3&sort=x": "/a?page&sort&",
	} {
		if got := strings.TrimPrefix(Shape(mustParse(t, "https://baomau.example"+path)), "baomau.example"); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// A calendar, session ids and filters come to an end; articles do not.
func TestMeter(t *testing.T) {
	now := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
	meter := NewMeter(20)
	admitted := func(form string) (n int, reason string) {
		for i := range 1000 {
			u, err := weburl.Parse(fmt.Sprintf("https://baomau.example"+form, i), weburl.Rules{})
			if err != nil {
				t.Fatal(err)
			}
			kind, score := Classify(u)
			ok, why := meter.Admit(Link{URL: u, Kind: kind, Score: score}, now)
			if ok {
				n++
			} else {
				reason = why
			}
		}
		return n, reason
	}
	if n, reason := admitted("/lich-su/ngay/%d"); n != 20 || !strings.Contains(reason, "too many URLs like baomau.example/lich-su/ngay/N") {
		t.Errorf("a calendar: %d, %q", n, reason)
	}
	if n, _ := admitted("/loc?mau=%d&co=2"); n != 20 {
		t.Errorf("filters: %d", n)
	}
	if n, reason := admitted("/gia-vang-tang-manh-phien-48%05d.html"); n != 1000 {
		t.Errorf("articles: %d, %q", n, reason)
	}
}
