package charset

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/unicode/norm"
)

func TestDecode_Encodings(t *testing.T) {
	const vi = "Hà Nội: giá vàng tăng mạnh"
	late := strings.Repeat("<script>var a;</script>", 100)
	vietnamese := func(s string) string {
		// windows-1258 has letters with circumflex, breve and horn, followed by tone
		// marks.
		text := norm.NFD.String(s)
		text = strings.NewReplacer("a\u0323\u0302", "â\u0323", "o\u0323\u0302", "ô\u0323", "e\u0323\u0302", "ê\u0323",
			"a\u0302", "â", "o\u0302", "ô", "e\u0302", "ê", "a\u0306", "ă", "o\u031b", "ơ", "u\u031b",
			"ư").Replace(text)
		encoded, err := charmap.Windows1258.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	latin, _ := charmap.Windows1252.NewEncoder().String("Café à Paris")
	sjis, _ := japanese.ShiftJIS.NewEncoder().String("東京のニュース")
	jis, _ := japanese.ISO2022JP.NewEncoder().String("東京")
	utf16, _ := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(vi)
	const chinese, russian, siamese = "新华社北京电 记者从有关部门获悉，今年上半年经济运行总体平稳", "Новости: цены на золото снова выросли",
		"ข่าววันนี้ ราคาทองคำปรับขึ้นอีกครั้งในตลาดโลก"
	gbk, _ := simplifiedchinese.GBK.NewEncoder().String(chinese)
	cyrillic, _ := charmap.Windows1251.NewEncoder().String(russian)
	thai, _ := charmap.Windows874.NewEncoder().String(siamese)
	broken := strings.Replace(vi, "\xe1\xba\xa1", "\xe1\xa1", 1)
	fixed := strings.Replace(vi, "ạ", "\uFFFD", 1)
	for _, c := range []struct{ name, body, header, want, encoding string }{
		{"utf-8 without a declaration", vi, "text/html", vi, "utf-8"},
		{"utf-8 after 1024 bytes of ASCII, without a declaration", late + vi, "", late + vi, "utf-8"},
		{"wrong header", vi, "text/html; charset=iso-8859-1", vi, "utf-8"},
		{
			"wrong declaration in the page", `<meta charset="windows-1252">` + vi, "",
			`<meta charset="windows-1252">` + vi, "utf-8",
		},
		{"byte order mark", "\xEF\xBB\xBF" + vi, "text/html; charset=windows-1252", vi, "utf-8"},
		{"utf-16 with mark", utf16, "text/html", vi, "utf-16le"},
		{"one invalid byte", vi + vi + vi + "\xe1\xbb", "text/html; charset=utf-8", vi + vi + vi + "\uFFFD", "utf-8"},
		{"windows-1252 by header", latin, "text/html; charset=ISO-8859-1", "Café à Paris", "windows-1252"},
		{"windows-1252 by default", latin, "", "Café à Paris", "windows-1252"},
		{"header with utf-8, other bytes", latin, "text/html; charset=utf-8", "Café à Paris", "windows-1252"},
		{"windows-1258 by header, composed", vietnamese(vi), "text/html; charset=windows-1258", vi, "windows-1258"},
		{"windows-1258 by language", `<html lang="vi">` + vietnamese(vi), "", `<html lang="vi">` + vi, "windows-1258"},
		{"shift_jis by meta", `<meta charset=Shift_JIS>` + sjis, "", `<meta charset=Shift_JIS>東京のニュース`, "shift_jis"},
		{
			"http-equiv", `<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">` + sjis, "",
			`<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">東京のニュース`, "shift_jis",
		},
		{
			"a meta in a comment", `<!-- <meta charset=shift_jis> -->` + latin, "",
			`<!-- <meta charset=shift_jis> -->Café à Paris`, "windows-1252",
		},
		{"iso-2022-jp consists of ASCII bytes", jis, "text/html; charset=iso-2022-jp", "東京", "iso-2022-jp"},
		{
			"XML declaration", `<?xml version="1.0" encoding="ISO-8859-1"?><a>` + latin, "text/xml",
			`<?xml version="1.0" encoding="ISO-8859-1"?><a>Café à Paris`, "windows-1252",
		},
		{"header without value", vi, `text/html; charset=`, vi, "utf-8"},
		{"malformed header", latin, `text/html; charset=x-unknown; ;;`, "Café à Paris", "windows-1252"},
		{"one byte missing, header with iso-8859-1", broken, "text/xml; charset=iso-8859-1", fixed, "utf-8"},
		{"one byte missing, header with utf-16", broken, "application/rss+xml; charset=utf-16", fixed, "utf-8"},
		{"one byte missing, header with shift_jis", broken, "text/html; charset=shift_jis", fixed, "utf-8"},
		{
			"one byte missing, declaration with utf-16", `<?xml version="1.0" encoding="UTF-16"?>` + broken, "",
			`<?xml version="1.0" encoding="UTF-16"?>` + fixed, "utf-8",
		},
		{
			"one byte missing, declaration with windows-1258", `<meta charset="windows-1258">` + broken, "",
			`<meta charset="windows-1258">` + fixed, "utf-8",
		},
		{
			"last byte of a long letter missing, header with iso-8859-15", "Tin: \xe1\xba và ế, ố",
			"text/xml; charset=iso-8859-15", "Tin: \uFFFD và ế, ố", "utf-8",
		},
		{
			"windows-1252, declared as utf-16", `<?xml version="1.0" encoding="utf-16"?>` + latin, "",
			`<?xml version="1.0" encoding="utf-16"?>Café à Paris`, "windows-1252",
		},
		{"utf-16 by header, without a mark", utf16[2:], "text/xml; charset=utf-16le", vi, "utf-16le"},
		{"GBK by header", gbk, "text/html; charset=gb2312", chinese, "gbk"},
		{"windows-1251 by header", cyrillic, "text/html; charset=windows-1251", russian, "windows-1251"},
		{"windows-874 by header", thai, "text/html; charset=tis-620", siamese, "windows-874"},
		{"empty", "", "", "", "utf-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, name := Decode([]byte(c.body), c.header)
			if string(text) != c.want || name != c.encoding {
				t.Errorf("got %q in %s", text, name)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("<meta charset=shift_jis>\x83\x65"), "text/html; charset=windows-1258")
	f.Add([]byte("\xFF\xFEa"), "")
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		text, name := Decode(body, header)
		if !utf8.Valid(text) || name == "" {
			t.Errorf("%q in %q", text, name)
		}
	})
}
