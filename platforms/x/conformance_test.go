package x_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"

	"dateline/platforms/network"
	"dateline/platforms/x"
)

// The conformance_*_test.go files contain every case of validate.yml and
// extract.yml of twitter-text 3.1
// (https://github.com/twitter/twitter-text/tree/master/conformance, Copyright
// Twitter, Inc. and other contributors, Apache License 2.0). Where Dateline
// deliberately differs, the field differs gives the reason and got the result.

// validity is a text, and whether all of it is one valid item.
type validity struct {
	text    string
	valid   bool
	differs string // the result is the opposite
}

// extraction is a text, and the items in it.
type extraction struct {
	text    string
	want    []string
	differs string
	got     []string
}

// found is an item and its position, in code points.
type found struct {
	text       string
	start, end int
}

// position is a text, and the items in it with their positions.
type position struct {
	text string
	want []found
}

// weighing is a text and its weight. For a text that is too long, shown is the
// number of UTF-16 code units within the limit (validRangeEnd + 1). The other
// published values follow from the weight and the length of the text.
type weighing struct {
	text    string
	weight  int
	valid   bool
	shown   int
	differs string
	got     int
}

func adapter(t *testing.T) (*x.X, network.Limits) {
	t.Helper()
	n := x.New(http.DefaultClient, x.Options{})
	limits, err := n.Limits(t.Context(), network.Account{})
	if err != nil {
		t.Fatal(err)
	}
	return n, limits
}

// kind is a type of item that twitter-text extracts.
type kind func(s network.Span, sign string) bool

func mention(s network.Span, _ string) bool {
	return s.Kind == network.SpanMention && !strings.Contains(s.Target, "/")
}

func list(s network.Span, _ string) bool {
	return s.Kind == network.SpanMention && strings.Contains(s.Target, "/")
}
func mentionOrList(s network.Span, _ string) bool { return s.Kind == network.SpanMention }
func hashtag(s network.Span, sign string) bool    { return s.Kind == network.SpanTag && sign != "$" }

func cashtag(s network.Span, sign string) bool { return s.Kind == network.SpanTag && sign == "$" }
func webLink(s network.Span, _ string) bool    { return s.Kind == network.SpanLink }

// extract returns the items of one kind that the preview marks, with their
// positions in the original text: the preview shortens links.
func extract(n *x.X, limits network.Limits, text string, of kind) []found {
	preview := n.Preview(network.Content{Text: text}, limits)
	written := norm.NFC.String(text)
	var all []found
	longer := 0 // number of bytes by which the text up to this position is longer than its preview
	for _, s := range preview.Spans {
		shown := preview.Text[s.Start:s.End]
		start, item := s.Start+longer, s.Target
		end := start + len(shown)
		if s.Kind == network.SpanLink {
			if !strings.HasPrefix(written[start:], item) {
				item = strings.TrimPrefix(item, "http://")
			}
			end = start + len(item)
			longer += len(item) - len(shown)
		}
		if of(s, shown[:1]) {
			from := len([]rune(written[:start]))
			all = append(all, found{text: item, start: from, end: from + len([]rune(written[start:end]))})
		}
	}
	return all
}

func texts(items []found) []string {
	var all []string
	for _, f := range items {
		all = append(all, f.text)
	}
	return all
}

func each[T any](t *testing.T, rows []T, count int, check func(*testing.T, T)) {
	t.Helper()
	if len(rows) != count {
		t.Errorf("got %d cases, want %d", len(rows), count)
	}
	for i, row := range rows {
		t.Run(fmt.Sprintf("%02d", i), func(t *testing.T) { check(t, row) })
	}
}

func TestTwitterText_Validation(t *testing.T) {
	n, limits := adapter(t)
	for _, section := range []struct {
		name  string
		rows  []validity
		count int
		of    kind
	}{
		{"usernames", usernameCases(), 4, mention},
		{"lists", listCases(), 5, list},
		{"hashtags", hashtagValidity(), 7, hashtag},
		{"urls", urlValidity(), 24, webLink},
		{"urls_without_protocol", bareURLValidity(), 5, webLink},
	} {
		t.Run(section.name, func(t *testing.T) {
			each(t, section.rows, section.count, func(t *testing.T, row validity) {
				items := extract(n, limits, row.text, section.of)
				got := len(items) == 1 && items[0].start == 0 && items[0].end == len([]rune(row.text))
				if want := row.valid != (row.differs != ""); got != want {
					t.Errorf("%q: got valid %v, want %v (%s)", row.text, got, want, row.differs)
				}
			})
		})
	}
}

func TestTwitterText_Extraction(t *testing.T) {
	n, limits := adapter(t)
	for _, section := range []struct {
		name  string
		rows  []extraction
		count int
		of    kind
	}{
		{"mentions", mentionCases(), 23, mention},
		{"hashtags", hashtagCases(), 65, hashtag},
		{"hashtags_from_astral", astralHashtagCases(), 3, hashtag},
		{"cashtags", cashtagCases(), 8, cashtag},
		{"urls", urlCases(), 91, webLink},
		{"tco_urls_with_params", shortURLCases(), 5, webLink},
	} {
		t.Run(section.name, func(t *testing.T) {
			each(t, section.rows, section.count, func(t *testing.T, row extraction) {
				want := row.want
				if row.differs != "" {
					want = row.got
				}
				for i, item := range want {
					want[i] = norm.NFC.String(item)
				}
				if got := texts(extract(n, limits, row.text, section.of)); !slices.Equal(got, want) {
					t.Errorf("%q: got %q, want %q (%s)", row.text, got, want, row.differs)
				}
			})
		})
	}
	t.Run("replies", func(t *testing.T) {
		each(t, replyCases(), 13, func(t *testing.T, row extraction) {
			got := extract(n, limits, row.text, mention)
			if len(got) > 1 {
				got = got[:1]
			}
			// A reply starts with its mention.
			got = slices.DeleteFunc(got, func(f found) bool {
				return strings.TrimLeftFunc(string([]rune(row.text)[:f.start]), unicode.IsSpace) != ""
			})
			if !slices.Equal(texts(got), row.want) {
				t.Errorf("%q: got %q, want %q", row.text, texts(got), row.want)
			}
		})
	})
}

func TestTwitterText_Positions(t *testing.T) {
	n, limits := adapter(t)
	for _, section := range []struct {
		name  string
		rows  []position
		count int
		of    kind
	}{
		{"mentions_with_indices", mentionPositions(), 3, mention},
		{"mentions_or_lists_with_indices", listPositions(), 5, mentionOrList},
		{"hashtags_with_indices", hashtagPositions(), 8, hashtag},
		{"cashtags_with_indices", cashtagPositions(), 2, cashtag},
		{"urls_with_indices", urlPositions(), 10, webLink},
		{"urls_with_directional_markers", directionalURLPositions(), 2, webLink},
	} {
		t.Run(section.name, func(t *testing.T) {
			each(t, section.rows, section.count, func(t *testing.T, row position) {
				if got := extract(n, limits, row.text, section.of); !slices.Equal(got, row.want) {
					t.Errorf("%q: got %v, want %v", row.text, got, row.want)
				}
			})
		})
	}
}

func TestTwitterText_Length(t *testing.T) {
	n, limits := adapter(t)
	t.Run("tweets", func(t *testing.T) {
		each(t, lengthCases(), 8, func(t *testing.T, row validity) {
			problems := n.Check(network.Content{Text: row.text}, limits)
			if want := row.valid != (row.differs != ""); (len(problems) == 0) != want {
				t.Errorf("%q: got problems %+v, want valid %v (%s)", row.text, problems, want, row.differs)
			}
		})
	})
	for _, section := range []struct {
		name  string
		rows  []weighing
		count int
	}{
		{"WeightedTweetsCounterTest", plainWeights(), 20},
		{"WeightedTweetsWithDiscountedEmojiCounterTest", emojiWeights(), 22},
		{"UnicodeDirectionalMarkerCounterTest", directionalWeights(), 2},
	} {
		t.Run(section.name, func(t *testing.T) {
			each(t, section.rows, section.count, func(t *testing.T, row weighing) {
				want := row.weight
				if row.differs != "" {
					want = row.got
				}
				if got := n.Count(row.text, limits); got != want {
					t.Errorf("%q weighs %d, want %d (%s)", row.text, got, want, row.differs)
				}
				problems := n.Check(network.Content{Text: row.text}, limits)
				if (len(problems) == 0) != row.valid {
					t.Errorf("%q: got problems %+v, want valid %v", row.text, problems, row.valid)
				}
				if got := shown(n.Preview(network.Content{Text: row.text}, limits), row.text); got != row.shown {
					t.Errorf("%q: got %d code units before the fold, want %d", row.text, got, row.shown)
				}
			})
		})
	}
}

// shown returns the number of UTF-16 code units of text before the fold; 0: all.
func shown(p network.Preview, text string) int {
	if p.FoldAt == 0 {
		return 0
	}
	at := p.FoldAt
	for _, s := range p.Spans {
		if s.Kind == network.SpanLink && s.End <= p.FoldAt {
			at += len(s.Target) - (s.End - s.Start)
		}
	}
	units := func(s string) int { return len(utf16.Encode([]rune(s))) }
	written := norm.NFC.String(text)
	return units(written[:at]) + units(text) - units(written)
}
