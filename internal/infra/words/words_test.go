package words_test

import (
	"testing"

	"dateline/internal/infra/words"
)

func TestKey_SpellingsOfOneText(t *testing.T) {
	t.Parallel()
	for a, b := range map[string]string{
		"Thời sự":     "Tho\u031b\u0300i su\u031b\u0323",
		"Hòa bình":    "Hoà bình",
		"Thủy sản":    "thuỷ sản",
		"Kinh tế":     " KINH\u00a0tế ",
		"Giáo dục":    "Giáo\u200b\u202fdục",
		"Kỹ thuật":    "kĩ thuật",
		"Công ty":     "công ti",
		"Bác sĩ":      "bác sỹ",
		"Mỹ":          "Mĩ",
		"Quý I":       "Quí I",
		"Tỷ giá":      "tỉ giá",
		"Hy vọng":     "hi vọng",
		"Đà Nẵng":     "Ðà Nẵng",
		"Âu-Mỹ":       "âu-mĩ",
		"Lý–Trần":     "Lí–Trần",
		"STRASSE":     "straße",
		"\ufeffTin":   "tin",
		"Pháp lý":     "pháp lí",
		"quốc gia ủy": "quốc gia uỷ",
	} {
		if x, y := words.Key(a), words.Key(b); x != y {
			t.Errorf("%q and %q: got the keys %q and %q", a, b, x, y)
		}
	}
	for a, b := range map[string]string{
		"tay": "tai", "Thúy": "thúi", "ý": "í", "uy": "ui", "hoa": "hòa", "may": "mai",
		"cha": "chà", "nguyễn": "nguiễn", "bay": "bai", "sky": "ski", "đa": "da", "a b": "ab",
	} {
		if x := words.Key(a); x == words.Key(b) {
			t.Errorf("%q and %q: got the same key %q", a, b, x)
		}
	}
}
