// Package crawltest is a small web for tests, benchmarks and the demonstration:
// news sites that publish over time, with feeds, sitemaps, robots.txt and every
// kind of trouble, and with the truth about what was published when and what
// was asked for when.
//
// Its sites are called site-0000.test, site-0001.test and so on. There are two
// ways to reach them: directly, with a fetcher that has World.Resolver and
// World.AllowPrivate, or through the World as an HTTP proxy (World.ProxyURL),
// which suits programs that are configured from outside.
package crawltest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options describe a World.
type Options struct {
	Sites          int           // how many sites; 1
	IPs            int           // how many loopback addresses they are spread over, up to 250; 1
	Seed           uint64        // of all that is drawn by lot
	Articles       int           // that each site has at the start; 20
	Sections       int           // that each site has, up to 8; 3
	ArticlesPerHub int           // how many articles a hub shows; 15
	BodyWords      int           // of an article's body; 300
	PageBytes      int           // articles are filled up to about this size with what templates bring; 0: not
	CrawlDelay     time.Duration // Crawl-delay in robots.txt; 0: none
	Traps          bool          // hubs link to traps and to what robots.txt refuses
	Proxied        bool          // URLs have no port: the World is used as a proxy
	NoiseParameter string        // that hubs add to half of their links to articles, without a meaning; empty: none
	Scripts        bool          // articles are empty until a script has filled them
	// Now is the World's clock; nil: time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	whole := func(value *int, otherwise int) {
		if *value <= 0 {
			*value = otherwise
		}
	}
	whole(&o.Sites, 1)
	whole(&o.IPs, 1)
	whole(&o.Articles, 20)
	whole(&o.Sections, 3)
	whole(&o.ArticlesPerHub, 15)
	whole(&o.BodyWords, 300)
	o.Sections = min(o.Sections, len(sectionNames()))
	o.IPs = min(o.IPs, 250)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// World is a running web.
type World struct {
	options   Options
	sites     []*Site
	log       log
	server    *http.Server
	port      string
	listeners sync.WaitGroup
	stop      chan struct{} // ends what hangs
	zips      sync.Pool     // *gzip.Writer
	words     []string      // that articles are made of
}

// New starts a World. Close it after use.
func New(options Options) (*World, error) {
	w := &World{options: options.withDefaults(), stop: make(chan struct{}), words: words()}
	listeners, err := w.listen()
	if err != nil {
		return nil, err
	}
	for i := range w.options.Sites {
		w.sites = append(w.sites, newSite(w, i))
	}
	w.server = &http.Server{Handler: w, ReadHeaderTimeout: 10 * time.Second}
	for _, l := range listeners {
		w.listeners.Go(func() { _ = w.server.Serve(l) })
	}
	return w, nil
}

// listen takes the same port on all addresses.
func (w *World) listen() ([]net.Listener, error) {
	var problem error
	for range 10 {
		var all []net.Listener
		port := "0"
		for i := range w.options.IPs {
			l, err := net.Listen("tcp", net.JoinHostPort(address(i, w.options.IPs).String(), port))
			if err != nil {
				problem = err
				break
			}
			all = append(all, l)
			_, port, _ = net.SplitHostPort(l.Addr().String())
		}
		if len(all) == w.options.IPs {
			w.port = port
			return all, nil
		}
		for _, l := range all {
			_ = l.Close()
		}
	}
	return nil, fmt.Errorf("listen on loopback addresses: %w", problem)
}

// Close stops the World.
func (w *World) Close() {
	close(w.stop)
	_ = w.server.Close()
	w.listeners.Wait()
}

// Site is the site with this number.
func (w *World) Site(number int) *Site { return w.sites[number] }

// Sites are all sites.
func (w *World) Sites() []*Site { return slices.Clone(w.sites) }

// AllowPrivate is what a fetcher must be allowed to reach the World directly.
func (w *World) AllowPrivate() []string {
	list := make([]string, w.options.IPs)
	for i := range list {
		list[i] = net.JoinHostPort(address(i, w.options.IPs).String(), w.port)
	}
	return list
}

// ProxyURL is the World as an HTTP proxy, see Options.Proxied.
func (w *World) ProxyURL() string { return "http://127.0.0.1:" + w.port }

// Resolver knows the names of the World's sites.
func (w *World) Resolver() Resolver { return Resolver{IPs: w.options.IPs} }

// Resolver finds the loopback address of a site by its name. It holds no state:
// one with the same number of addresses, in another process, finds the same.
type Resolver struct {
	IPs int // as in Options
	TTL time.Duration
}

// Lookup returns the address of a site; subdomains have their site's.
func (r Resolver) Lookup(_ context.Context, host string) ([]netip.Addr, time.Duration, error) {
	number, ok := siteNumber(host)
	if !ok {
		return nil, 0, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	ttl := r.TTL
	if ttl == 0 {
		ttl = time.Minute
	}
	return []netip.Addr{address(number, max(r.IPs, 1))}, ttl, nil
}

func address(number, ips int) netip.Addr {
	return netip.AddrFrom4([4]byte{127, 0, 0, byte(1 + number%ips)}) //nolint:gosec // at most 250
}

// siteNumber reads 12 from site-0012.test, with any subdomain before it.
func siteNumber(host string) (int, bool) {
	labels := strings.Split(strings.ToLower(host), ".")
	if len(labels) < 2 || labels[len(labels)-1] != "test" {
		return 0, false
	}
	digits, ok := strings.CutPrefix(labels[len(labels)-2], "site-")
	number, err := strconv.Atoi(digits)
	return number, ok && err == nil && number >= 0
}

// ServeHTTP answers for all sites.
func (w *World) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	number, ok := siteNumber(host)
	if !ok || number >= len(w.sites) || r.Method == http.MethodConnect {
		http.Error(out, "no such site", http.StatusBadGateway)
		return
	}
	ip := ""
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		ip, _, _ = net.SplitHostPort(local.String())
	}
	entry := w.log.begin(Request{At: w.options.Now(), Host: strings.ToLower(host), Site: number, IP: ip, Method: r.Method,
		Path: r.URL.RequestURI(), Agent: r.UserAgent(),
		Conditional: r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != ""})
	counted := &counter{ResponseWriter: out, status: http.StatusOK}
	defer func() { w.log.end(entry, counted.status, counted.bytes) }()
	w.sites[number].serve(counted, r)
}

// WaitFor waits until the condition holds, or fails when ctx ends.
func (w *World) WaitFor(ctx context.Context, condition func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			return errors.Join(errors.New("it did not come to pass"), ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// URL is the address of a path at a site.
func (w *World) url(host, path string) string {
	if !w.options.Proxied {
		host = net.JoinHostPort(host, w.port)
	}
	ref, err := url.Parse(path)
	if err != nil {
		ref = &url.URL{Path: path}
	}
	return (&url.URL{Scheme: "http", Host: host}).ResolveReference(ref).String()
}
