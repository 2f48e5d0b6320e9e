package web_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"dateline/internal/infra/message"
	"dateline/internal/publishing/timeline"
)

var update = flag.Bool("update", false, "write the English messages") //nolint:gochecknoglobals // a flag

// templates are one message, or several of which the first one that can be filled is
// used.
type templates []string

func (t *templates) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(t))
	}
	*t = templates{""}
	return json.Unmarshal(raw, &(*t)[0])
}

func (t templates) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	var value any = []string(t)
	if len(t) == 1 {
		value = t[0]
	}
	err := encoder.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}

// catalog has the messages of one language by kind and code.
type catalog map[string]map[string]templates

func readCatalog(t *testing.T, language string) catalog {
	t.Helper()
	raw, err := os.ReadFile("src/i18n/messages/" + language + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var c catalog
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// of returns the message of a use, as the dashboard chooses it.
func (c catalog) of(u use) templates {
	if found, ok := c[u.kind][u.field+"."+u.code]; ok {
		return found
	}
	return c[u.kind][u.code]
}

// english has the program's own sentences. A code with several sentences shows the one
// of the API.
func english(emissions []use) catalog {
	c := catalog{"timeline": {}, "cause": {}, "warning": {}, "alert": {}, "problem": {}, "note": {}}
	for key, text := range timeline.English().Messages {
		c["timeline"][key] = templates{text}
	}
	for _, u := range emissions {
		known := c[u.kind][u.code]
		switch {
		case u.kind == "cause":
		case u.template == "" || slices.Contains(message.Names(u.template), "reason"):
			if !slices.Contains(known, "{message}") {
				known = append(known, "{message}")
			}
		case !slices.Contains(known, u.template):
			known = append(known, u.template)
		}
		if u.kind != "cause" {
			// The sentence of the API is the last resort, and those with the most values come first.
			slices.SortStableFunc(known, func(a, b string) int { return len(message.Names(b)) - len(message.Names(a)) })
			if i := slices.Index(known, "{message}"); i >= 0 {
				known = append(slices.Delete(known, i, i+1), "{message}")
			}
			c[u.kind][u.code] = known
		}
	}
	return c
}

func TestMessages_EnglishIsThatOfTheProgram(t *testing.T) {
	want := english(parseSource(t).emitted())
	if *update {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("src/i18n/messages/en.json", out.Bytes(), 0o644); err != nil { //nolint:gosec // a source file
			t.Fatal(err)
		}
	}
	got := readCatalog(t, "en")
	for _, kind := range slices.Sorted(maps.Keys(want)) {
		for _, code := range slices.Sorted(maps.Keys(want[kind])) {
			if !slices.Equal(got[kind][code], want[kind][code]) {
				t.Errorf("%s %s: got %q, want %q; run the test with -update", kind, code, got[kind][code],
					want[kind][code])
			}
		}
		for code := range got[kind] {
			if _, ok := want[kind][code]; !ok {
				t.Errorf("%s %s: the program no longer has this code; run the test with -update", kind, code)
			}
		}
	}
}

// Every code that the program can emit has a message in Vietnamese, which needs no value
// that the program does not send.
func TestMessages_EveryCodeIsTranslated(t *testing.T) {
	vi := readCatalog(t, "vi")
	emissions := parseSource(t).emitted()
	if len(emissions) < 300 {
		t.Fatalf("found only %d emissions of codes in the source", len(emissions))
	}
	used := map[string]bool{}
	for _, u := range emissions {
		found := vi.of(u)
		used[u.kind+" "+u.code] = true
		if len(found) == 0 {
			t.Errorf("%s: %s %q has no message in vi.json", u.at, u.kind, u.code)
			continue
		}
		names := message.Names(u.template)
		fills := func(template string) bool {
			text := message.Fill(template, func(name string) string {
				if name == "message" || slices.Contains(names, name) {
					return "1"
				}
				return "\x00"
			})
			return text != "" && !strings.Contains(withoutOptional(template, names), "\x00")
		}
		if u.kind != "cause" && !slices.ContainsFunc(found, fills) {
			t.Errorf("%s: %s %q: the values %q fill none of %q", u.at, u.kind, u.code, names, found)
		}
	}
	for key, text := range timeline.English().Messages {
		found := vi["timeline"][key]
		if len(found) != 1 {
			t.Errorf("timeline %q has no message in vi.json", key)
			continue
		}
		for _, name := range message.Names(found[0]) {
			if !slices.Contains(message.Names(text), name) {
				t.Errorf("timeline %q: vi.json has {%s}, which the English message does not have", key, name)
			}
		}
	}
	for kind, messages := range vi {
		for key := range messages {
			_, code, ofField := strings.Cut(key, ".")
			if !ofField {
				code = key
			}
			if kind != "timeline" && !used[kind+" "+code] {
				t.Errorf("vi.json has %s %q, which the program never emits", kind, key)
			}
		}
	}
}

// withoutOptional returns a NUL for every value that is needed and not among names.
func withoutOptional(template string, names []string) string {
	var needed strings.Builder
	for i, part := range strings.Split(template, "[") {
		if i > 0 {
			_, part, _ = strings.Cut(part, "]")
		}
		for _, name := range message.Names(part) {
			if name != "message" && !slices.Contains(names, name) {
				needed.WriteString("\x00")
			}
		}
	}
	return needed.String()
}
