package clientaddr

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func TestClient_TrustedProxies(t *testing.T) {
	trusted, err := Parse([]string{"10.0.0.0/8", "2001:db8::1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		peer, forwarded, want string
	}{
		{"203.0.113.1:5", "198.51.100.9", "203.0.113.1"}, // not sent by a trusted proxy
		{"10.0.0.1:5", "", "10.0.0.1"},
		{"10.0.0.1:5", "198.51.100.9", "198.51.100.9"},
		{"10.0.0.1:5", "192.0.2.66, 198.51.100.9", "198.51.100.9"}, // the first was forged by the reader
		{"10.0.0.1:5", "192.0.2.66, 198.51.100.9, 10.0.0.2", "198.51.100.9"},
		{"10.0.0.1:5", "192.0.2.66|198.51.100.9 |10.0.0.2,10.0.0.3", "198.51.100.9"},
		{"10.0.0.1:5", "10.0.0.7", "10.0.0.7"},
		{"10.0.0.1:5", "192.0.2.66, garbage, 10.0.0.2", "10.0.0.2"},
		{"[2001:db8::1]:5", "2001:db8:9::1", "2001:db8:9::1"},
		{"[::ffff:10.0.0.1]:5", "::ffff:198.51.100.9", "198.51.100.9"},
		{"@", "198.51.100.9", "invalid IP"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		r.Header.Set("X-Real-IP", "192.0.2.99") // not read
		if c.forwarded != "" {
			r.Header["X-Forwarded-For"] = strings.Split(c.forwarded, "|")
		}
		if got := trusted.Client(r); got.String() != c.want {
			t.Errorf("%s, %q: got %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
	if _, err := Parse([]string{"localhost"}); err == nil {
		t.Error("a name was accepted as an address")
	}
}

func TestIsMissing_NamesAProxyThatDoesNotForward(t *testing.T) {
	trusted := Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	for _, c := range []struct {
		peer, forwarded string
		want            bool
	}{
		{"10.0.0.1:5", "", true},
		{"10.0.0.1:5", "198.51.100.9", false},
		{"203.0.113.1:5", "", false},
		{"@", "", false},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Real-Ip": {"198.51.100.9"}}}
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := trusted.IsMissing(r); got != c.want {
			t.Errorf("%s, %q: got %t, want %t", c.peer, c.forwarded, got, c.want)
		}
	}
}

func FuzzClient(f *testing.F) {
	f.Add("10.0.0.1:5", "192.0.2.66, 198.51.100.9")
	trusted := Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, peer, forwarded string) {
		r := &http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {forwarded}}}
		got := trusted.Client(r)
		if direct, err := netip.ParseAddrPort(peer); err == nil && !trusted.contains(direct.Addr().Unmap()) &&
			got != direct.Addr().Unmap() {
			t.Errorf("%q, %q: %s", peer, forwarded, got)
		}
	})
}
