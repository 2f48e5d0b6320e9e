package workspace

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyPlainAddressesAreTaken(t *testing.T) {
	for text, want := range map[string]string{
		"person@news.example": "person@news.example", " Person@News.Example\n": "person@news.example",
		"a+b.c@x.example": "a+b.c@x.example",
		"":                "", "person": "", "@news.example": "", "person@": "", "A <a@news.example>": "",
		"<a@news.example>": "", `"a b"@news.example`: "", "a@news.example (me)": "",
		"a@news.example, b@news.example": "", "İ@news.example": "", "a\x00@news.example": "", "a b@news.example": "",
		strings.Repeat("a", 250) + "@x.example": "",
	} {
		if got, err := cleanEmail(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// Cleaning is idempotent, and accepted addresses are lower case, as the database
// requires.
func FuzzEmail(f *testing.F) {
	for _, text := range []string{
		"person@news.example", "A <a@b.example>", `"a\"b"@[::1]`, "\u212a@b.example", "a@b@c",
		"a@b.example\r\nBcc: x@y.example",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, err := cleanEmail(text)
		if err != nil {
			return
		}
		twice, err := cleanEmail(once)
		require.NoError(t, err)
		require.Equal(t, once, twice)
		require.Equal(t, once, strings.ToLower(once))
		require.LessOrEqual(t, len(once), maxEmailLength)
		require.GreaterOrEqual(t, strings.Count(once, "@"), 1)
		require.False(t, strings.ContainsAny(once, "\r\n\x00 <>,"))
	})
}

func TestEachRoleMayDoWhatThoseBelowMay(t *testing.T) {
	for i, role := range Roles() {
		for j, least := range Roles() {
			if got := role.AtLeast(least); got != (i >= j) {
				t.Errorf("%s is at least %s: %v", role, least, got)
			}
		}
		if role.AtLeast("") || role.AtLeast("king") || Role("king").AtLeast(role) {
			t.Errorf("%s and roles that do not exist", role)
		}
	}
}
