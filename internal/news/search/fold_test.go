package search

import (
	"testing"
	"unicode/utf8"
)

// The table of single letters agrees with decomposing a word.
func FuzzFold(f *testing.F) {
	for _, word := range []string{
		"giá", "VÀNG", "hòa", "hoà", "nghiễm", "Đường", "Øre", "straße", "œuvre", "ĳs",
		"İstanbul", "ŉ", "covid19", "то́нна", "e\u0301", "ﬁn", "ǆ", "ẛ",
	} {
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
	const text = "Nước sông dâng cao sau mưa lớn kéo dài hai ngày, vượt mức báo động ba tại nhiều trạm đo ở hạ lưu " +
		"vào rạng sáng. "
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

// The vowel i is also spelled y in open syllables after h, k, l, m, s, t and qu; elsewhere
// the two are different words.
func TestTokens_SpellingsOfOpenSyllables(t *testing.T) {
	t.Parallel()
	one := func(text string) Token { return Tokens(text)[0] }
	for a, b := range map[string]string{
		"kỹ": "kĩ", "Lý": "LÍ", "Mỹ": "Mĩ", "sỹ": "sĩ", "tỷ": "tỉ", "quý": "quí",
		"hy": "hi", "ty": "ti", "kỳ": "kì", "hỷ": "hỉ", "lỵ": "lị", "quỳ": "quì", "ky": "ki", "ky\u0303": "kĩ",
	} {
		if x, y := one(a), one(b); x.Word != y.Word || x.Marked == y.Marked || x.Variant != y.Marked ||
			y.Variant != x.Marked {
			t.Errorf("%s and %s: got %+v and %+v", a, b, x, y)
		}
	}
	for a, b := range map[string]string{
		"tay": "tai", "thúy": "thúi", "ý": "í", "y": "i", "uy": "ui", "tùy": "tùi",
		"hay": "hai", "mây": "mâi", "lũy": "lũi", "by": "bi", "sky": "ski", "nguy": "ngui", "ký": "kỷ",
		"quay": "quai",
	} {
		if x, y := one(a), one(b); x.Word == y.Word && a != "ký" || x.Marked == y.Marked || x.Variant == y.Marked {
			t.Errorf("%s and %s: got %+v and %+v, want two words", a, b, x, y)
		}
	}
	for a, b := range map[string]string{
		"Ðà": "Đà", "Ðồng": "Đồng", "đ": "ð", "Ɖà": "Đà", "D\u0300": "D\u0300",
		"hoà": "hòa", "NA\u0306M": "năm",
	} {
		if x, y := one(a), one(b); x.Marked != y.Marked || x.Word != y.Word {
			t.Errorf("%+q and %+q: got %+v and %+v, want one word", a, b, x, y)
		}
	}
	for _, pair := range [][2]string{{"Kỹ thuật", "kĩ  thuật"}, {"Công\u00a0ty", "công ti"}, {"Thời sự", "Thời sự"}} {
		if Key(pair[0]) != Key(pair[1]) {
			t.Errorf("%q and %q: got the keys %q and %q", pair[0], pair[1], Key(pair[0]), Key(pair[1]))
		}
	}
}
