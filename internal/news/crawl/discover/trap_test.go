package discover

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTrapReason_URLs(t *testing.T) {
	now := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
	for path, trap := range map[string]bool{
		"/": false, "/thoi-su/gia-vang-4800001.html": false, "/2026/03/07/gia-vang": false, "/lich/2026/3": false,
		"/lich/2026/4": false, "/a/b/a/b": false,
		"/lich/2026/9": true, "/lich/2031/01": true, "/events/1979-02": true, "/su-kien?month=2027-05&view=list": true,
		"/a/b/a/b/a/b/a/b": true, "/x/x/x/x": true, "/1/2/3/4/5/6/7/8/9/10/11/12/13": true,
		"/loc?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9": true,
		"/gia-vang-2031-09":                        true, // read as a month, an acceptable loss
		"/bao-cao-2027.html":                       false,
	} {
		if reason := TrapReason(mustParse(t, "https://baomau.example"+path), now); (reason != "") != trap {
			t.Errorf("%s: %q", path, reason)
		}
	}
}

func TestShape_URLs(t *testing.T) {
	for path, want := range map[string]string{
		"/": "/", "/thoi-su": "/thoi-su", "/lich/2026/3": "/lich/N/N",
		"/kinh-doanh/gia-vang-tang-manh-4800001.html": "/kinh-doanh/*N.html",
		"/gia-vang-tang-manh":                         "/*", "/a?page=3&sort=x": "/a?page&sort&",
	} {
		if got := strings.TrimPrefix(Shape(mustParse(t, "https://baomau.example"+path)),
			"baomau.example"); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// Endless lists get one shape; URLs that were accepted before count.
func TestShapeLimiter_Limits(t *testing.T) {
	shapes := NewShapeLimiter(20)
	shapes.Count(mustParse(t, "https://baomau.example/lich-su/ngay/0"))
	admit := func(form string, many int) (n int, why string) {
		for i := range many {
			if reason := shapes.Admit(mustParse(t, fmt.Sprintf("https://baomau.example"+form, i))); reason != "" {
				why = reason
			} else {
				n++
			}
		}
		return n, why
	}
	if n, why := admit("/lich-su/ngay/%d", 1000); n != 19 ||
		why != "trap: too many sections like baomau.example/lich-su/ngay/N" {
		t.Errorf("a calendar: %d, %q", n, why)
	}
	if n, why := admit("/loc?mau=%d&co=2", 1000); n != 20 || why == "" {
		t.Errorf("filters: %d, %q", n, why)
	}
	letters := func(i int) string {
		return strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8",
			"i", "9", "k").Replace(fmt.Sprint(i))
	}
	taken, why := 0, ""
	for i := range 5000 {
		if why = shapes.Admit(mustParse(t, "https://baomau.example/chu-de/"+letters(i))); why == "" {
			taken++
		}
	}
	if taken != maxShapes-2 || why != "trap: too many kinds of sections" {
		t.Errorf("topics: %d, %q", taken, why)
	}
}
