package robots

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTDM_FirstMatchingRuleDecides(t *testing.T) {
	rules := ParseTDM([]byte(`[
		{"location": "/news/free/", "tdm-reservation": 0},
		{"location": "/news/*.html$", "tdm-reservation": 1, "tdm-policy": "https://example.org/policy.json"},
		{"location": "/tin/đường", "tdm-reservation": "1"},
		{"tdm-reservation": 1},
		{"location": "/", "tdm-reservation": "yes"}]`))
	for path, want := range map[string]string{
		"/news/free/a.html": "free", "/news/a.html": "https://example.org/policy.json", "/news/a.html?x=1": "none",
		"/tin/%C4%91%C6%B0%E1%BB%9Dng-1": "reserved", "/": "none",
	} {
		rule, found := rules.For(path)
		got := "none"
		switch {
		case found && !rule.Reserved:
			got = "free"
		case found && rule.Policy != "":
			got = rule.Policy
		case found:
			got = "reserved"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	for _, text := range []string{"", "{}", "<html>not found</html>", `[{"location":7}]`} {
		if got := ParseTDM([]byte(text)); len(got) != 0 {
			t.Errorf("%q: got %v, want no rules", text, got)
		}
	}
}

// The file is read with robots.txt. While it cannot be read, the last one applies.
func TestCache_TDMIsReadWithRobots(t *testing.T) {
	now := time.Now()
	answers := &site{answer: Response{Status: 404, TDM: []byte(`[{"location":"/","tdm-reservation":1}]`), HasTDM: true}}
	c := NewCache(Options{
		Product: "Dateline", Source: answers.source, Store: &memory{entries: map[string]Entry{}},
		Now: func() time.Time { return now },
	})
	reserved := func() bool {
		p, err := c.Get(t.Context(), origin)
		require.NoError(t, err)
		rule, _ := p.TDM.For("/a")
		return rule.Reserved
	}
	require.True(t, reserved())
	now = now.Add(25 * time.Hour)
	answers.answer = Response{Status: 404}
	require.True(t, reserved(), "the file was unreachable")
	now = now.Add(25 * time.Hour)
	answers.answer = Response{Status: 404, HasTDM: true}
	require.False(t, reserved(), "the file was removed")
	require.Equal(t, 3, answers.asked)
}
