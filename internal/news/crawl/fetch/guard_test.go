package fetch

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/testing/crawltest"
)

// hosts resolves its names.
type hosts map[string]string

func (h hosts) Lookup(_ context.Context, host string) ([]netip.Addr, time.Duration, error) {
	var addrs []netip.Addr
	for one := range strings.FieldsSeq(h[host]) {
		addrs = append(addrs, netip.MustParseAddr(one))
	}
	return addrs, time.Minute, nil
}

// All ways to a private address are refused, without a connection.
func TestGuard_BlocksPrivateAddresses(t *testing.T) {
	names := hosts{
		"loopback.example":  "127.0.0.1",
		"rebind.example":    "127.0.0.1",
		"loopback6.example": "::1",
		"private.example":   "10.0.0.5",
		"mapped.example":    "::ffff:127.0.0.1",
		"mapped2.example":   "::ffff:100.64.0.1 ::ffff:168.63.129.16",
		"nat64.example":     "64:ff9b::7f00:1",
		"6to4.example":      "2002:7f00:1::",
		"metadata.example":  "169.254.169.254",
		"mixed.example":     "10.0.0.1 93.184.215.14",
		"localhost":         "127.0.0.1",
		"site.localhost":    "127.0.0.1",
		"local.internal":    "192.168.1.1",
	}
	o := options()
	o.Resolver = names
	f := newFetcher(t, o)
	proxied := o
	proxied.Proxy = "http://127.0.0.1:1" // refused before the lookup
	behind := newFetcher(t, proxied)
	addresses := []string{
		"http://127.0.0.1/", "http://127.0.0.1:80/", "https://127.0.0.1/", "http://127.1/", "http://127.0.1/",
		"http://127.255.255.254/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://0177.0.0.1/",
		"http://017700000001/", "http://0x7f.0x0.0x0.0x1/", "http://127.0.0.1./", "http://%31%32%37.0.0.1/",
		"http://１２７.０.０.１/", "http://127。0。0。1/", "http://①②⑦.⓪.⓪.①/", "http:\\\\127.0.0.1\\", "http://localhost/",
		"http://LOCALHOST./", "http://site.localhost/", "http://loopback.example/", "http://loopback.example./",
		"http://LoopBack.Example/", "http://0.0.0.0/", "http://0/", "http://0.1.2.3/", "http://[::1]/", "http://[::]/",
		"http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/",
		"http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::1]/", "http://[2002:7f00:1::]/", "http://[2001::1]/",
		"http://[fe80::1]/", "http://[fc00::1]/", "http://[fd00:ec2::254]/", "http://[ff02::1]/", "http://[fec0::1]/",
		"http://[2001:db8::1]/", "http://[100::1]/", "http://10.0.0.1/", "http://10.1/", "http://172.16.0.1/",
		"http://172.31.255.255/", "http://192.168.0.1/", "http://0300.0250.1/",
		"http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://0xa9fea9fe/",
		"http://100.100.100.200/", "http://192.0.0.192/", "http://168.63.129.16/", "http://100.64.0.1/",
		"http://198.18.0.1/", "http://192.0.2.1/", "http://224.0.0.1/", "http://240.0.0.1/", "http://255.255.255.255/",
		"http://loopback6.example/", "http://private.example/", "http://mapped.example/", "http://mapped2.example/",
		"http://nat64.example/", "http://6to4.example/", "http://metadata.example/", "http://mixed.example/",
		"http://local.internal/", "http://rebind.example/",
		// Public, but not for the web
		"http://93.184.215.14:22/", "http://93.184.215.14:6379/", "http://93.184.215.14:5432/",
	}
	if len(addresses) < 60 {
		t.Fatalf("only %d addresses", len(addresses))
	}
	for _, address := range addresses {
		for how, f := range map[string]*Fetcher{"directly": f, "by proxy": behind} {
			r := fetch(t, f, Request{URL: address})
			if r.Outcome != BlockedAddress && r.Outcome != Invalid || r.Status != 0 {
				t.Errorf("%s %s: %s (%s)", address, how, r.Outcome, r.Reason)
			}
		}
	}
}

// A redirect to a private address is refused, and so is the request.
func TestGuard_BlocksRedirects(t *testing.T) {
	var reached atomic.Bool
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(secret.Close)
	_, port, _ := net.SplitHostPort(secret.Listener.Addr().String())
	w, err := crawltest.New(crawltest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	f := forWorld(t, w, Limits{})
	for _, to := range []string{
		"http://127.0.0.1:" + port + "/", "//127.0.0.1:" + port + "/",
		"http://2130706433:" + port, "http://[::ffff:127.0.0.1]:" + port,
		"http://169.254.169.254/", "http://0x7f.1:" + port + "/", "file:///etc/passwd", "gopher://127.0.0.1:6379/_INFO",
		"http://a:b@example.org/", "http:127.0.0.1:" + port + "//",
	} {
		r := fetch(t, f, Request{URL: w.Site(0).URL("/to?url=" + strings.ReplaceAll(to, "%", "%25"))})
		if r.Outcome != BlockedAddress && r.Outcome != NotFound || len(r.Hops) != 1 {
			t.Errorf("to %s: %s (%s)", to, r.Outcome, r.Reason)
		}
	}
	if reached.Load() {
		t.Error("a private server got a request")
	}
}

// flipping returns a public address first, then a private one.
type flipping struct{ asked atomic.Int32 }

func (f *flipping) Lookup(context.Context, string) ([]netip.Addr, time.Duration, error) {
	if f.asked.Add(1) == 1 {
		return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, time.Nanosecond, nil
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, time.Nanosecond, nil
}

// DNS rebinding: the dialed address is the one that was checked, and a name cannot
// change its address faster than the minimum lifetime.
func TestGuard_DNSRebinding(t *testing.T) {
	var reached atomic.Bool
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) })}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	now := time.Now()
	o := options()
	resolver := &flipping{}
	o.Resolver, o.Now = resolver, func() time.Time { return now }
	f := newFetcher(t, o)
	for range 3 {
		if r := fetch(t, f, Request{URL: "http://rebind.example:" + port + "/"}); r.Outcome != BlockedAddress {
			t.Errorf("%s (%s)", r.Outcome, r.Reason)
		}
	}
	if resolver.asked.Load() != 1 {
		t.Errorf("a lifetime of a nanosecond was accepted: got %d queries", resolver.asked.Load())
	}
	now = now.Add(time.Hour)
	if r := fetch(t, f, Request{URL: "http://rebind.example:" + port + "/"}); r.Outcome != BlockedAddress {
		t.Errorf("%s (%s)", r.Outcome, r.Reason)
	}
	if resolver.asked.Load() != 2 || reached.Load() {
		t.Errorf("%d queries, reached %v", resolver.asked.Load(), reached.Load())
	}
}

func TestLookup_UnmapsIPv4MappedAddresses(t *testing.T) {
	names := newDNSCache(hosts{"news.example": "::ffff:93.184.215.14 93.184.215.14 " +
		"2606:2800:21f:cb07:6820:80da:af6b:8b2c"}, time.Now)
	got, err := names.lookup(t.Context(), "news.example")
	want := []netip.Addr{
		netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("2606:2800:21f:cb07:6820:80da:af6b:8b2c"),
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("lookup: got %v, %v, want %v", got, err, want)
	}
}
