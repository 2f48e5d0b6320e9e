package search

import (
	"testing"
	"unicode/utf8"
)

// The table of single letters agrees with decomposing a word.
func FuzzFold(f *testing.F) {
	for _, word := range []string{"giá", "VÀNG", "hòa", "hoà", "nghiễm", "Đường", "Øre", "straße", "œuvre", "ĳs", "İstanbul", "ŉ", "covid19", "то́нна", "e\u0301", "ﬁn", "ǆ", "ẛ"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if !utf8.ValidString(word) {
			return
		}
		bare, marked, ok := foldLatin(word)
		if !ok {
			return
		}
		if b, m := foldUnicode(word); bare != b || marked != m {
			t.Errorf("%q: got %q, %q, want %q, %q", word, bare, marked, b, m)
		}
	})
}

func TestFold_LatinTableMatchesUnicode(t *testing.T) {
	for r := range rune(latinLimit) {
		for _, word := range []string{string(r), "a" + string(r), "ế" + string(r) + "t"} {
			bare, marked, ok := foldLatin(word)
			if !ok {
				continue
			}
			if b, m := foldUnicode(word); bare != b || marked != m {
				t.Errorf("%q (%U): got %q, %q, want %q, %q", word, r, bare, marked, b, m)
			}
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	const text = "Nước sông dâng cao sau mưa lớn kéo dài hai ngày, vượt mức báo động ba tại nhiều trạm đo ở hạ lưu vào rạng sáng. "
	for _, way := range []struct {
		name string
		fold func(string)
	}{{"table", func(s string) { Tokens(s) }}, {"each", func(s string) {
		for _, t := range Tokens(s) {
			foldUnicode(s[t.Start:t.End])
		}
	}}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				way.fold(text)
			}
		})
	}
}
