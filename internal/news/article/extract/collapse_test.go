package extract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// slow is a reference implementation of squeeze, rune by rune.
func slow(before, s string) string {
	var b strings.Builder
	b.WriteString(before)
	space := strings.HasSuffix(before, " ")
	for _, r := range s {
		switch r {
		case ' ', '\t', '\n', '\r', '\f', '\v', '\u00a0':
			if !space {
				b.WriteByte(' ')
			}
			space = true
		case '\u200b', '\ufeff', '\u00ad':
		default:
			b.WriteRune(r)
			space = false
		}
	}
	return b.String()
}

func TestAppendCollapsed(t *testing.T) {
	for _, before := range []string{"", "a", "a "} {
		for _, s := range []string{
			"", " ", "  ", "a b", " a  b ", "\n\ta\u00a0 b\u00a0", "x\u200b y", "a \u00ad b",
			"\u00ad a", "a \u200b", "Thời  tiết", "a \ufeff b", " \u00a0x", "a b  c d", "…  »",
		} {
			require.Equal(t, slow(before, s), string(appendCollapsed([]byte(before), s)), "%q after %q", s, before)
			require.Equal(t, slow("", s) == s, isCollapsed(s), "%q", s)
		}
	}
}

func FuzzSqueeze(f *testing.F) {
	f.Add("a ", " b\u00a0\u200b c")
	f.Fuzz(func(t *testing.T, before, s string) {
		s, before = strings.ToValidUTF8(s, "?"), strings.ToValidUTF8(before, "?")
		require.Equal(t, slow(before, s), string(appendCollapsed([]byte(before), s)))
		require.Equal(t, slow("", s) == s, isCollapsed(s))
	})
}
