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
	} {
		got, err := Read(c.text)
		if err != nil || !slices.EqualFunc(got, c.want, slices.Equal[[]string]) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for text, want := range map[string]string{"a\n\"b": "row 2: unterminated quotation mark", "a\"b\n": "row 1: a quotation mark in an unquoted cell", "\"a\"b\n": "row 1: text after a closing quotation mark", "\xff": "not valid UTF-8"} {
		if _, err := Read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestEscapedCellsAreNoFormulas(t *testing.T) {
	for cell, want := range map[string]string{"=1+1": "'=1+1", "+84 24": "'+84 24", "-1": "'-1", "@desk": "'@desk", "\tx": "'\tx", "＝A1": "'＝A1", "'=1": "''=1", "''": "'''",
		"Hà Nội": "Hà Nội", "'quoted'": "'quoted'", "'": "'", "": "", "1=1": "1=1"} {
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
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		want := []string{Escape(a), Escape(b)}
		rows, err := Read(string(Write(Write(nil, []string{"one", "two"}), want)))
		require.NoError(t, err)
		require.Len(t, rows, 2)
		require.Equal(t, want, rows[1])
		require.Equal(t, a, Unescape(rows[1][0]))
		require.Equal(t, b, Unescape(rows[1][1]))
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
			out = Write(out, row)
		}
		again, err := Read(string(out))
		if err != nil || len(again) != len(rows)+1 {
			t.Fatalf("%q: got %d rows, and %d after writing and reading, %v", text, len(rows), len(again)-1, err)
		}
	})
}
