package docs_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var label = regexp.MustCompile(`\*\*([^*]+)\*\*`)

// The pages in Vietnamese name what the dashboard shows: every bold phrase is one of its texts.
func TestVietnamese_NamesWhatTheDashboardShows(t *testing.T) {
	t.Parallel()
	var texts any
	if err := json.Unmarshal([]byte(read(t, "web/src/i18n/vi.json")), &texts); err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	collect(texts, shown)
	labels := 0
	all := pages(t)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(file, "docs/vi/") {
			continue
		}
		for _, m := range label.FindAllStringSubmatch(all[file], -1) {
			labels++
			if one := strings.Join(strings.Fields(m[1]), " "); !shown[one] {
				t.Errorf("%s: the dashboard does not show %q", file, one)
			}
		}
	}
	if labels < 100 {
		t.Errorf("got %d labels, want those of ten pages", labels)
	}
}

// collect adds all texts below a value.
func collect(value any, into map[string]bool) {
	switch v := value.(type) {
	case string:
		into[v] = true
	case map[string]any:
		for _, one := range v {
			collect(one, into)
		}
	}
}
