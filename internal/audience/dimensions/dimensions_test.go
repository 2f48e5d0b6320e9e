package dimensions_test

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"dateline/internal/audience/dimensions"
)

// file writes a file in MaxMind's format.
func file(t *testing.T, kind string) string {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: kind, RecordSize: 24, IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	for prefix, code := range map[string]string{
		"203.0.113.0/24": "VN", "198.51.100.0/24": "FR",
		"2001:db8:1::/48": "JP", "192.0.2.0/24": "not a code",
	} {
		_, network, err := net.ParseCIDR(prefix)
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Insert(network,
			mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String(code)}}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "countries.mmdb")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCountries_Lookup(t *testing.T) {
	c, err := dimensions.OpenCountries(file(t, "Test-Country"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for address, want := range map[string]string{
		"203.0.113.9": "VN", "::ffff:203.0.113.9": "VN", "198.51.100.1": "FR",
		"2001:db8:1:ffff::1": "JP",
		"2001:db8:2::1":      "", "192.0.2.1": "", "10.0.0.1": "",
	} {
		if got := c.Lookup(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
	if got := c.Lookup(netip.Addr{}); got != "" {
		t.Errorf("no address: got %q", got)
	}
}

func TestOpenCountries_Errors(t *testing.T) {
	c, err := dimensions.OpenCountries("")
	if err != nil || c.Lookup(netip.MustParseAddr("203.0.113.9")) != "" || c.Close() != nil {
		t.Errorf("%v, %v", c, err)
	}
	text := filepath.Join(t.TempDir(), "text.mmdb")
	if err := os.WriteFile(text, []byte("no such file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "absent.mmdb"), text, file(t, "Test-ASN")} {
		if _, err := dimensions.OpenCountries(path); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}

func TestDevice_UserAgents(t *testing.T) {
	const webkit = " AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 "
	for agent, want := range map[string]string{
		"": "",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit +
			"Safari/537.36": dimensions.Desktop,
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0)" + webkit +
			"Safari/537.36": dimensions.Desktop,
		"Mozilla/5.0 (Linux; Android 10; K)" + webkit +
			"Mobile Safari/537.36": dimensions.Mobile,
		"Mozilla/5.0 (Linux; Android 12; SM-T870)" + webkit +
			"Safari/537.36": dimensions.Tablet,
		"Mozilla/5.0 (iPad; CPU OS 12_5_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 " +
			"Mobile/15E148 Safari/604.1": dimensions.Tablet,
		"Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; vi) Presto/2.12.423 Version/12.16": dimensions.Mobile,
		"Mozilla/5.0 (Web0S; Linux/SmartTV)" + webkit + "Safari/537.36":                           dimensions.Other,
		"Something": dimensions.Other,
	} {
		if got := dimensions.Device(agent); got != want {
			t.Errorf("%q: got %q, want %q", agent, got, want)
		}
	}
}

func TestReferrers_Resolve(t *testing.T) {
	r := dimensions.NewReferrers()
	own := func(host string) bool { return host == "news.example" || strings.HasSuffix(host, ".news.example") }
	for address, want := range map[string]string{
		"https://www.facebook.com/story?id=1":         "facebook.com",
		"https://l.facebook.com/l.php?u=x":            "facebook.com",
		"http://m.facebook.com":                       "facebook.com",
		"https://notfacebook.com/":                    "notfacebook.com",
		"https://www.google.com.vn/":                  "google.com",
		"https://news.google.com/":                    "news.google.com",
		"https://google.evil.example.org/":            "google.evil.example.org",
		"https://chat.zalo.me/":                       "zalo.me",
		"https://t.co/abc":                            "x.com",
		"android-app://com.zing.zalo/":                "zalo.me",
		"android-app://com.instagram.barcelona":       "threads.com",
		"android-app://com.unknown.app":               "com.unknown.app",
		"https://WWW.Blog.Example.:8443/a?utm=1#frag": "blog.example",
		"https://news.example/other":                  "",
		"https://m.news.example/other":                "",
		"https://203.0.113.7/":                        "",
		"https://[2001:db8::1]/":                      "",
		"https://user:secret@blog.example/":           "blog.example",
		"https://bad\u00e9.example/":                  "",
		"javascript:alert(1)":                         "",
		"ftp://files.example/":                        "",
		"https://localhost/":                          "",
		"":                                            "",
		"://":                                         "",
	} {
		if got := r.Resolve(address, "", own); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
	for agent, want := range map[string]string{
		"Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21B101 " +
			"[FBAN/FBIOS;FBAV/442.0]": "facebook.com",
		"Mozilla/5.0 (Linux) Mobile Safari/537.36 Zalo android/481": "zalo.me",
		"Mozilla/5.0 (Linux) Mobile Safari/537.36":                  "",
	} {
		if got := r.Resolve("", agent, own); got != want {
			t.Errorf("%q: got %q, want %q", agent, got, want)
		}
	}
}

func FuzzReferrer(f *testing.F) {
	r := dimensions.NewReferrers()
	f.Add("https://l.facebook.com/l.php?u=x")
	f.Add("android-app://com.zing.zalo/")
	f.Fuzz(func(t *testing.T, address string) {
		got := r.Resolve(address, "", func(string) bool { return false })
		if len(got) > 253 || got != strings.ToLower(got) || strings.ContainsAny(got, " /\x00:@") {
			t.Errorf("%q: got %q", address, got)
		}
	})
}
