package bluesky_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"dateline/platforms/bluesky"
	"dateline/platforms/network"
)

type facetRow struct {
	Name string
	Text string
	Want []struct {
		Kind       network.SpanKind
		Start, End int
		Target     string
	}
}

func plain() (*bluesky.Bluesky, network.Limits) {
	b := bluesky.New(http.DefaultClient, bluesky.Options{})
	limits, _ := b.Limits(context.Background(), network.Account{})
	return b, limits
}

// Clickable parts, in bytes, as detected by Bluesky's own apps.
func TestFacets(t *testing.T) {
	var rows []facetRow
	readJSON(t, "testdata/facets.json", &rows)
	b, limits := plain()
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			spans := b.Preview(network.Content{Text: row.Text}, limits).Spans
			if len(spans) != len(row.Want) {
				t.Fatalf("spans %+v of %q, want %+v", spans, row.Text, row.Want)
			}
			for i, want := range row.Want {
				if got := spans[i]; got.Kind != want.Kind || got.Start != want.Start || got.End != want.End ||
					got.Target != want.Target {
					t.Errorf("span %+v, want %+v", got, want)
				}
			}
		})
	}
}

func TestCheck(t *testing.T) {
	b, limits := plain()
	image := network.MediaInfo{MIMEType: "image/png", Bytes: 100, Width: 10, Height: 10}
	clip := network.MediaInfo{MIMEType: "video/mp4", Bytes: 100, AltText: strings.Repeat("a", 1001)}
	for name, row := range map[string]struct {
		content     network.Content
		field, code string
	}{
		"Bytes":        {network.Content{Text: strings.Repeat("👨‍👩‍👧‍👦", 121)}, "content", "too_many_bytes"},
		"MostBytes":    {network.Content{Text: strings.Repeat("👨‍👩‍👧‍👦", 120)}, "", ""},
		"VideoAltText": {network.Content{Media: []network.MediaInfo{clip}}, "attachments[0]", "alt_text_too_long"},
		"Mixed": {
			network.Content{Media: []network.MediaInfo{image, {MIMEType: "video/mp4", Bytes: 1}}},
			"attachments", "mixed_attachments",
		},
		"LargeImage": {
			network.Content{Media: []network.MediaInfo{{MIMEType: "image/png", Bytes: 2_000_001}}},
			"attachments[0]", "too_large",
		},
		"LargestImage": {
			network.Content{Media: []network.MediaInfo{{MIMEType: "image/png", Bytes: 2_000_000}}},
			"",
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			problems := b.Check(row.content, limits)
			if row.code == "" && len(problems) > 0 || row.code != "" &&
				(len(problems) != 1 || problems[0].Field != row.field || problems[0].Code != row.code) {
				t.Errorf("problems %+v, want %q on %q", problems, row.code, row.field)
			}
		})
	}
}

func TestPreview(t *testing.T) {
	b, limits := plain()
	shown := b.Preview(network.Content{Text: "Tin @desk.bsky.social example.com/a"}, limits)
	if shown.Text != "Tin @desk.bsky.social example.com/a" || shown.Card != "https://example.com/a" ||
		shown.FoldAt != 0 || len(shown.Notes) != 2 {
		t.Errorf("preview %+v", shown)
	}
	shown = b.Preview(network.Content{Text: "https://example.com", Media: []network.MediaInfo{{MIMEType: "image/gif"}}},
		limits)
	if shown.Card != "" || len(shown.Notes) != 1 {
		t.Errorf("preview with a picture: %+v", shown)
	}
}

func FuzzFacets(f *testing.F) {
	for _, seed := range []string{
		"", "https://", "@a.test #ă $VNM", "(example.com)", "#\ufe0f", "＃", "$", "@", "#!",
		"http://[", "x\xff@a.test",
	} {
		f.Add(seed)
	}
	b, limits := plain()
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, s := range b.Preview(network.Content{Text: text}, limits).Spans {
			if s.Start < end || s.End <= s.Start || s.End > len(text) || s.Target == "" {
				t.Fatalf("span %+v of %q", s, text)
			}
			if utf8.ValidString(text) && (!utf8.ValidString(text[:s.Start]) || !utf8.ValidString(text[s.Start:s.End])) {
				t.Fatalf("span %+v cuts a character of %q", s, text)
			}
			end = s.End
		}
	})
}
