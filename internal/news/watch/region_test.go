package watch

import (
	"slices"
	"strings"
	"testing"
)

const page = `<!doctype html><html><head><title>Prices</title><script>let a = 1</script></head><body>
<p>Now: 12:00:01</p>
<main id="prices"><h2>Fuel   prices</h2><table><tr><td>Petrol</td><td><b>21.050</b> đ</td></tr><tr><td>Diesel</td><td>19.800 đ</td></tr></table>
<div class="note">From <em>Monday</em><br>on<script>track()</script><style>p{}</style></div></main>
<aside class="note">Advertisement</aside></body></html>`

func TestReadRegion_ReturnsLinesOfText(t *testing.T) {
	for name, c := range map[string]struct {
		selector string
		want     []string
		problem  Problem
	}{
		"a region": {
			"#prices", []string{"Fuel prices", "Petrol", "21.050 đ", "Diesel", "19.800 đ", "From Monday", "on"}, "",
		},
		"several elements": {".note", []string{"From Monday", "on", "Advertisement"}, ""},
		"elements in each other": {
			"main, td:nth-child(2)", []string{
				"Fuel prices", "Petrol", "21.050 đ", "Diesel", "19.800 đ", "From Monday",
				"on",
			}, "",
		},
		"the whole page": {
			"", []string{
				"Now: 12:00:01", "Fuel prices", "Petrol", "21.050 đ", "Diesel", "19.800 đ", "From Monday",
				"on", "Advertisement",
			}, "",
		},
		"nothing":                 {"#missing", nil, NoMatch},
		"an element without text": {"script", nil, Empty},
	} {
		got, problem := readRegion([]byte(page), c.selector)
		if !slices.Equal(got, c.want) || problem != c.problem {
			t.Errorf("%s: got %q %q, want %q %q", name, got, problem, c.want, c.problem)
		}
	}
	if _, problem := readRegion([]byte(strings.Repeat("<p>x</p>", maxLines+1)), ""); problem != TooLong {
		t.Errorf("a huge page: got the problem %q, want %q", problem, TooLong)
	}
}

func TestCompare_IgnoresLinesThatMoved(t *testing.T) {
	for name, c := range map[string]struct{ before, after, added, removed []string }{
		"the same":                {[]string{"a", "b"}, []string{"a", "b"}, nil, nil},
		"moved":                   {[]string{"a", "b"}, []string{"b", "a"}, nil, nil},
		"changed":                 {[]string{"a", "b"}, []string{"a", "c"}, []string{"c"}, []string{"b"}},
		"one of two equal lines":  {[]string{"a", "a"}, []string{"a"}, nil, []string{"a"}},
		"a line that is repeated": {[]string{"a"}, []string{"a", "b", "a"}, []string{"b", "a"}, nil},
	} {
		added, removed := compareLines(c.before, c.after)
		if !slices.Equal(added, c.added) || !slices.Equal(removed, c.removed) {
			t.Errorf("%s: got %q and %q, want %q and %q", name, added, removed, c.added, c.removed)
		}
	}
}

func FuzzReadRegion(f *testing.F) {
	f.Add([]byte(page), "#prices")
	f.Add([]byte("<p"), "a > b:not(c)")
	f.Fuzz(func(t *testing.T, page []byte, selector string) {
		lines, _ := readRegion(page, selector)
		for _, line := range lines {
			if line == "" || strings.ContainsAny(line, "\n\r") || len([]rune(line)) > maxLineLength {
				t.Errorf("got the line %q, want a short one without breaks", line)
			}
		}
	})
}
