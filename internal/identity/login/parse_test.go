package login

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestShortAgent(t *testing.T) {
	for header, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 " +
			"Firefox/128.0": "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 " +
			"Safari/537.36 Edg/131.0.0.0": "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile " +
			"Safari/537.36": "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/18.1 Mobile/15E148 Safari/604.1": "Safari on iOS",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 " +
			"Safari/605.1.15": "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1": "Chrome on iOS",
		"curl/8.5.0": "curl",
		"":           "another program",
	} {
		if got := shortAgent(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

// Any User-Agent results in a name that can be stored and displayed.
func FuzzShortAgent(f *testing.F) {
	f.Add("Firefox/\xff Linux")
	f.Fuzz(func(t *testing.T, header string) {
		if got := shortAgent(header); len(got) > 40 || !utf8.ValidString(got) || got == "" {
			t.Errorf("%q", got)
		}
	})
}

func TestPlainEmail(t *testing.T) {
	for address, want := range map[string]string{
		"Ann@News.Example": "ann@news.example", "a@b": "a@b",
		`"a@evil.example"@news.example`: `"a@evil.example"@news.example`,
		"":                              "", "ann": "", "@news.example": "", "ann@": "", "ann @news.example": "",
		"ann@news.example\n": "", "\u212Aarl@news.example": "",
		"ann@n\u0117ws.example": "", strings.Repeat("a", 250) + "@news.example": "",
	} {
		if got := plainEmail(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

// Only addresses that differ in the case of ASCII letters are equal.
func FuzzPlainEmail(f *testing.F) {
	f.Add("K@news.example")
	f.Add("\u212A@news.example")
	f.Add("a@b@c")
	f.Fuzz(func(t *testing.T, address string) {
		got := plainEmail(address)
		if got == "" {
			return
		}
		if len(got) != len(address) || !strings.EqualFold(got, address) || plainEmail(got) != got ||
			strings.ContainsAny(got, "\x00\n ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			t.Errorf("%q became %q", address, got)
		}
	})
}

func TestJoin_RequiresAnAllowedDomain(t *testing.T) {
	j := Joining{Domains: []string{"news.example"}, Role: "author"}
	for email, want := range map[string]string{
		"ann@news.example": "author", "": "", "ann@sub.news.example": "",
		"ann@evilnews.example":          "",
		"ann@evil.example@news.example": "", `"ann@news.example"@evil.example`: "",
	} {
		if got := j.role(Person{Email: email}); string(got) != want {
			t.Errorf("%q joins as %q, want %q", email, got, want)
		}
	}
	if got := (Joining{Role: "author"}).role(Person{Email: "ann@news.example"}); got != "" {
		t.Errorf("joins as %q where joining is off", got)
	}
}

// Only the state of an attempt is valid, and only until it expires.
func FuzzState(f *testing.F) {
	a, now := attempt{"secret"}, time.Unix(1_800_000_000, 0)
	right := a.state(now)
	f.Add(right)
	f.Add("")
	f.Add("1800000000.")
	f.Add("-9223372036854775808.AAAA")
	f.Add(right + ".")
	f.Add("+" + right)
	f.Fuzz(func(t *testing.T, state string) {
		at, _, _ := strings.Cut(state, ".")
		seconds, _ := strconv.ParseInt(at, 10, 64)
		own := state == a.state(time.Unix(seconds, 0)) // cannot be guessed by chance
		if got := a.answers(state, now); got != (own && seconds <= now.Unix() &&
			now.Unix()-seconds < int64(attemptTimeout/time.Second)) {
			t.Errorf("%q: %v", state, got)
		}
		if (attempt{}).answers(state, now) {
			t.Errorf("%q matches no attempt", state)
		}
	})
}

func TestAttempt_SecretsDiffer(t *testing.T) {
	a, b := attempt{newSecret()}, attempt{newSecret()}
	now := time.Now()
	seen := map[string]bool{}
	for _, s := range []string{
		a.secret, b.secret, a.nonce(), b.nonce(), a.verifier(), b.verifier(), a.state(now),
		b.state(now), string(a.used()), string(b.used()),
	} {
		if seen[s] {
			t.Errorf("%q twice", s)
		}
		seen[s] = true
	}
	if n := len(a.verifier()); n < 43 || n > 128 { // RFC 7636, section 4.1
		t.Errorf("a verifier of %d characters", n)
	}
}

func TestName_CanBeStored(t *testing.T) {
	for name, want := range map[string]string{
		" Ann \n Lê ": "Ann   Lê", "a\x00b": "a b", "\xff": "\uFFFD",
		strings.Repeat("ệ", 300): strings.Repeat("ệ", 200), "\u202Eevil": "evil",
	} {
		if got := plainName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
