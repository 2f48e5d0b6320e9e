// Package crawltest serves a small synthetic web for tests, benchmarks and the
// demo: news sites that publish over time, with feeds, sitemaps, robots.txt and
// all kinds of faults. It knows what was published when, and which requests
// arrived when.
//
// The sites are called site-0000.test, site-0001.test and so on. There are two
// ways to reach them: directly, with a fetcher that uses World.Resolver and
// World.AllowPrivate, or with the World as an HTTP proxy (World.ProxyURL), for
// programs that are configured from outside.
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

// Options configure a World. Zero fields have the default given in their
// comment.
type Options struct {
	Sites          int           // number of sites; 1
	Hosts          []string      // names of the first sites; the others are site-0000.test and so on, by number
	Port           string        // where the sites listen, unless it is taken; any
	IPs            int           // number of loopback addresses, up to 250; 1
	Seed           uint64        // random seed
	Articles       int           // initial articles per site; 20
	Sections       int           // sections per site, up to 8; 3
	ArticlesPerHub int           // articles on a hub; 15
	BodyWords      int           // words per article; 300
	PageBytes      int           // minimum size of article pages in bytes; 0: none
	CrawlDelay     time.Duration // Crawl-delay in robots.txt; 0: none
	Traps          bool          // hubs link to traps and to disallowed pages
	Proxied        bool          // URLs have no port, for use as a proxy
	NoiseParameter string        // meaningless URL parameter in half of the links to articles; empty: none
	Hub            string        // WebSub hub that feeds name; empty: none
	Scripts        bool          // article text is loaded by a script
	Readable       bool          // articles are for people to read: in English on every third site, else in Vietnamese
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	setDefault := func(value *int, fallback int) {
		if *value <= 0 {
			*value = fallback
		}
	}
	setDefault(&o.Sites, 1)
	setDefault(&o.IPs, 1)
	setDefault(&o.Articles, 20)
	setDefault(&o.Sections, 3)
	setDefault(&o.ArticlesPerHub, 15)
	setDefault(&o.BodyWords, 300)
	o.Sections = min(o.Sections, len(sectionNames()))
	o.IPs = min(o.IPs, 250)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// World is a running synthetic web.
type World struct {
	options   Options
	sites     []*Site
	log       log
	server    *http.Server
	port      string
	listeners sync.WaitGroup
	stop      chan struct{} // ends hanging requests
	zips      sync.Pool     // *gzip.Writer
	words     []string      // vocabulary of articles
	desks     []newsdesk    // for Options.Readable
}

// New starts a World. Call Close when done.
func New(options Options) (*World, error) {
	w := &World{options: options.withDefaults(), stop: make(chan struct{}), words: words()}
	if options.Readable {
		w.desks = newsdesks()
	}
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

// listen opens the same port on all addresses.
func (w *World) listen() ([]net.Listener, error) {
	var lastErr error
	for attempt := range 10 {
		var all []net.Listener
		port := "0"
		if attempt == 0 && w.options.Port != "" {
			port = w.options.Port
		}
		for i := range w.options.IPs {
			l, err := net.Listen("tcp", net.JoinHostPort(address(i, w.options.IPs).String(), port))
			if err != nil {
				lastErr = err
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
	return nil, fmt.Errorf("listen on loopback addresses: %w", lastErr)
}

// Close stops the servers.
func (w *World) Close() {
	close(w.stop)
	_ = w.server.Close()
	w.listeners.Wait()
}

// Site returns a site by its number.
func (w *World) Site(number int) *Site { return w.sites[number] }

// Sites returns all sites.
func (w *World) Sites() []*Site { return slices.Clone(w.sites) }

// AllowPrivate returns the addresses that a fetcher must be allowed to reach.
func (w *World) AllowPrivate() []string {
	list := make([]string, w.options.IPs)
	for i := range list {
		list[i] = net.JoinHostPort(address(i, w.options.IPs).String(), w.port)
	}
	return list
}

// ProxyURL is the URL of the World as an HTTP proxy, see Options.Proxied.
func (w *World) ProxyURL() string { return "http://127.0.0.1:" + w.port }

// Resolver returns a resolver for the sites' names.
func (w *World) Resolver() Resolver { return Resolver{IPs: w.options.IPs, Hosts: w.options.Hosts} }

// Resolver resolves the names of sites to loopback addresses. It is stateless:
// in another process, one with the same number of addresses returns the same
// results.
type Resolver struct {
	IPs   int      // as in Options
	Hosts []string // as in Options
	TTL   time.Duration
}

// Lookup returns the address of a site or its subdomain.
func (r Resolver) Lookup(_ context.Context, host string) ([]netip.Addr, time.Duration, error) {
	number, ok := siteNumber(host, r.Hosts)
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

// siteNumber returns 12 for site-0012.test, the index of a name in hosts, and the same for their subdomains.
func siteNumber(host string, hosts []string) (int, bool) {
	labels := strings.Split(strings.ToLower(host), ".")
	if i := slices.Index(hosts, strings.Join(labels[max(0, len(labels)-2):], ".")); i >= 0 {
		return i, true
	}
	if len(labels) < 2 || labels[len(labels)-1] != "test" {
		return 0, false
	}
	digits, ok := strings.CutPrefix(labels[len(labels)-2], "site-")
	number, err := strconv.Atoi(digits)
	return number, ok && err == nil && number >= 0
}

// ServeHTTP serves all sites.
func (w *World) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	number, ok := siteNumber(host, w.options.Hosts)
	if !ok || number >= len(w.sites) || r.Method == http.MethodConnect {
		http.Error(out, "no such site", http.StatusBadGateway)
		return
	}
	ip := ""
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		ip, _, _ = net.SplitHostPort(local.String())
	}
	entry := w.log.begin(Request{
		At: w.options.Now(), Host: strings.ToLower(host), Site: number, IP: ip,
		Method: r.Method,
		Path:   r.URL.RequestURI(), Agent: r.UserAgent(),
		Conditional: r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "",
	})
	counted := &counter{ResponseWriter: out, status: http.StatusOK}
	defer func() { w.log.end(entry, counted.status, counted.bytes) }()
	w.sites[number].serve(counted, r)
}

// WaitFor waits until a condition holds or ctx ends.
func (w *World) WaitFor(ctx context.Context, condition func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			return errors.Join(errors.New("timed out waiting for the condition"), ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// url returns the URL of a path on a host.
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
