package csvio

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want [][]string
	}{
		"plain":               {"a,b\n1,2\n", [][]string{{"a", "b"}, {"1", "2"}}},
		"CR LF, mark, no end": {"\ufeffa,b\r\nBản tin sáng,2", [][]string{{"a", "b"}, {"Bản tin sáng", "2"}}},
		"old line ends":       {"a,b\r1,2\r", [][]string{{"a", "b"}, {"1", "2"}}},
		"quotes":              {"a,b\n\"x,\"\"y\"\"\",\"1\r\n2\n\"\n", [][]string{{"a", "b"}, {`x,"y"`, "1\r\n2\n"}}},
		"semicolons of Excel": {"nội dung;giờ\n\"a;b\";1,5\n", [][]string{{"nội dung", "giờ"}, {"a;b", "1,5"}}},
		"tabs":                {"a\tb\n1\t\n", [][]string{{"a", "b"}, {"1", ""}}},
		"separator in quotes": {"\"a;;;\",b\n", [][]string{{"a;;;", "b"}}},
		"empty lines":         {"a,b\n\n\r\n1,2\n\n", [][]string{{"a", "b"}, {"1", "2"}}},
		"nothing":             {"", nil},
		"used range":          {"a;b\n1;2\n;\n;\n", [][]string{{"a", "b"}, {"1", "2"}}},
		"blank cells":         {"a\tb\n1\t2\n \t\u00a0\n", [][]string{{"a", "b"}, {"1", "2"}}},
		"blank rows first":    {";\na;b\n1,5;2\n", [][]string{{"a", "b"}, {"1,5", "2"}}},
		"blank lines first":   {"\r\n\na;b\n", [][]string{{"a", "b"}}},
		"separator of Excel":  {"\ufeffsep=;\r\na,x;b\r\n1;2", [][]string{{"a,x", "b"}, {"1", "2"}}},
		"separator is a tab":  {"SEP=\t\na\tb\n", [][]string{{"a", "b"}}},
		"separator is a bar":  {"sep=|\na|b;c\n", [][]string{{"a", "b;c"}}},
		"not a separator":     {"sep=ab\nx\n", [][]string{{"sep=ab"}, {"x"}}},
		"only a separator":    {"sep=;", nil},
		"Unicode text":        {"\xff\xfea\x00\t\x00\xe0\x00\r\x00\n\x00", [][]string{{"a", "à"}}},
		"UTF-16, big endian":  {"\xfe\xff\x00a\x00,\x1e\xbf", [][]string{{"a", "ế"}}},
	} {
		rows, err := Read(c.text)
		if got := cells(rows); err != nil || !slices.EqualFunc(got, c.want, slices.Equal[[]string]) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for text, want := range map[string]string{
		"a\n\"b":   "line 2: unterminated quotation mark",
		"a\"b\n":   "line 1: a quotation mark in an unquoted cell",
		"\"a\"b\n": "line 1: text after a closing quotation mark", "\xff": "not valid UTF-8",
		"a\n\n1\n\n\"b": "line 5: unterminated", "a\r\n\"1\r\n2\"\r\n\r\nb\"": "line 5: a quotation mark",
		"Gi\xe1 v\xe0ng": "CSV UTF-8",
	} {
		if _, err := Read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func cells(rows []Row) (all [][]string) {
	for _, r := range rows {
		all = append(all, r.Cells)
	}
	return all
}

// A row is named by the line of the file where it begins.
func TestRead_CountsLinesOfTheFile(t *testing.T) {
	rows, err := Read("sep=;\r\na;b\r\n\r\n;\r\n\"1\r\n2\";x\r\n3;y\r\n")
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, r := range rows {
		lines = append(lines, r.Line)
	}
	if want := []int{2, 5, 7}; !slices.Equal(lines, want) {
		t.Errorf("got %v, want %v", lines, want)
	}
}

func TestEscapedCellsAreNoFormulas(t *testing.T) {
	for cell, want := range map[string]string{
		"=1+1": "'=1+1", "+84 24": "'+84 24", "-1": "'-1", "@desk": "'@desk",
		"\tx": "'\tx", "＝A1": "'＝A1", "'=1": "''=1", "''": "'''",
		"Hà Nội": "Hà Nội", "'quoted'": "'quoted'", "'": "'", "": "", "1=1": "1=1",
	} {
		if got := Escape(cell); got != want || Unescape(got) != cell {
			t.Errorf("%q becomes %q and %q", cell, got, Unescape(got))
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, c := range []string{"", "a", "=1", "'='", "x\r\ny", "\r", "\"", ";\t,", "Tiếng Việt", "\ufeff", "''''="} {
		f.Add(c, "b")
		f.Add("b", c)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || Trim(a+b) == "" {
			return
		}
		want := []string{Escape(a), Escape(b)}
		rows, err := Read(string(Write(Write(nil, []string{"one", "two"}), want)))
		require.NoError(t, err)
		require.Len(t, rows, 2)
		require.Equal(t, want, rows[1].Cells)
		require.Equal(t, a, Unescape(rows[1].Cells[0]))
		require.Equal(t, b, Unescape(rows[1].Cells[1]))
		if strings.IndexAny(Escape(a), "=+-@\t\r\n") == 0 {
			t.Fatalf("%q is still a formula", a)
		}
	})
}

// For any file, reading ends, and the result can be written.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"a,b\n1,2", "\"", "\"\"\"", ",\r\n;", "\ufeff\"a\r\n\";b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := Read(text)
		if err != nil {
			return
		}
		out := Write(nil, []string{"one", "two"})
		for _, row := range rows {
			out = Write(out, row.Cells)
		}
		again, err := Read(string(out))
		if err != nil || len(again) != len(rows)+1 {
			t.Fatalf("%q: got %d rows, and %d after writing and reading, %v", text, len(rows), len(again)-1, err)
		}
	})
}
