package crawler

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"time"

	"dateline/internal/news/article"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/change"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/pagestore"
	"dateline/internal/news/crawl/robots"
	"dateline/internal/news/crawl/weburl"
)

// storePage stores a page and adds its links to the frontier. The order matters
// for crash safety: first the object, then the discovered URLs, and the URL's
// own row last.
func (r *run) storePage(ctx context.Context, f *crawl.FetchRecord, res *fetch.Result, v Verdict) error {
	u := &f.URL
	if moved, err := r.handleRedirect(ctx, f, res); moved || err != nil {
		return err
	}
	seed := r.seeds[u.SeedNumber]
	follow := u.Kind.Hub() || u.Depth < seed.Rules.MaxDepth
	parsed, err := r.Parser.Parse(u.Kind, res, r.domain.Rules, r.memo, follow)
	if err != nil {
		r.Log.Debug("page could not be parsed", "domain", r.domain.Name, "url", u.ID, "error", err)
	}
	r.recordCanonical(u, parsed)
	raw := pagestore.Hash(res.Body)
	content := raw
	switch {
	case u.Kind.Hub():
		content = hubDigest(parsed.Links)
	case parsed.Text != "":
		digest, hash := change.Fingerprints(parsed.Title, parsed.Text)
		content, u.SimHash = digest.String(), int64(hash) //nolint:gosec // bits, whatever the sign
	}
	if err := r.storeVersion(ctx, f, res, v, raw, content); err != nil {
		return err
	}
	var newURLs int
	if follow && !parsed.NoFollow {
		found, trap, err := r.selectLinks(ctx, *u, seed, parsed.Links, v)
		if err != nil {
			return err
		}
		if newURLs, err = r.addToFrontier(ctx, found); err != nil {
			return err
		}
		f.Error = trap
	}
	if u.Kind == crawl.Feed {
		if err := r.noteHubs(ctx, *u, res, newURLs > 0); err != nil {
			return err
		}
	}
	u.State, u.Attempts = crawl.Stored, 0
	u.ETag, u.LastModified = dropOversized(res.ETag), dropOversized(res.LastModified)
	hasNews := f.Changed
	if u.Kind.Hub() {
		hasNews = newURLs > 0
	}
	r.scheduleNext(f, hasNews)
	return r.recordSeedCrawl(ctx, f, newURLs > 0, "")
}

// storeVersion stores a new version if the articles of a hub, or the text of an
// article, changed. Templates change all the time and do not count.
func (r *run) storeVersion(
	ctx context.Context, f *crawl.FetchRecord, res *fetch.Result, v Verdict, raw, content string,
) error {
	u := &f.URL
	f.Changed = content != u.ContentHash
	// Extraction may have marked the article of a dead page as removed: when
	// the page returns, it is extracted again.
	isRestored := u.State == crawl.Dead && u.RawHash != ""
	if !isRestored && (!f.Changed || raw == u.RawHash) {
		return nil
	}
	f.ObjectKey = crawl.ObjectKey(r.domain.Name, u.ID, raw)
	stored, err := r.Pages.Put(ctx, f.ObjectKey, res.Body)
	if err != nil {
		return err
	}
	f.IsFirstVersion = u.RawHash == ""
	if f.IsFirstVersion && u.Kind == crawl.Article {
		f.PublishedAt = publishedAt(res.Body, r.domain.CreatedAt)
	}
	f.Version = &crawl.PageVersion{
		DomainID: r.domain.ID, URLID: u.ID, URL: u.URL, FetchedAt: startTime(res),
		Status: res.Status,
		Bytes:  len(res.Body), StoredBytes: stored, Kind: u.Kind, RawHash: raw, FinalURL: res.FinalURL,
		Header: storedHeaders(res.Header, v.TDM),
	}
	u.RawHash, u.ContentHash = raw, content
	return nil
}

func hubDigest(links []discover.Link) string {
	var articles []weburl.URL
	for _, l := range links {
		if l.Kind == discover.Article || l.Kind == discover.Other {
			articles = append(articles, l.URL)
		}
	}
	return change.HubDigest(articles).String()
}

// selectLinks selects the links of a page that its seed's rules allow. trap is
// the reason why some of them were left out nevertheless.
func (r *run) selectLinks(
	ctx context.Context, u crawl.URL, seed crawl.Seed, links []discover.Link, v Verdict,
) (found []crawl.DiscoveredURL, trap string, err error) {
	w := linkSelection{run: r, page: u, pageURL: u.URL, seen: map[weburl.URL]bool{}}
	if u.Kind == crawl.Home {
		for _, text := range v.Sitemaps {
			if to, err := weburl.Parse(text, r.domain.Rules); err == nil {
				w.add(to, crawl.Sitemap, crawl.HubRank(crawl.Sitemap), u.Depth)
			}
		}
	}
	allow, ok := r.allowed[u.SeedNumber]
	if !ok {
		allow = urlMatcher(seed.Rules)
	}
	archive := u.Kind == crawl.Sitemap && !r.isSeed(u)
	for _, l := range r.withoutKnown(links) {
		at := latest(l.Published, l.Modified)
		// Discovered sitemaps may list a site's whole archive.
		if archive && (at.IsZero() || time.Since(at) > maxSitemapAge) {
			continue
		}
		switch l.Kind {
		case discover.Feed, discover.Sitemap:
			if u.Kind.Hub() && (u.Kind != crawl.Section || u.Depth == 0) {
				w.add(l.URL, crawl.Kind(l.Kind), crawl.HubRank(crawl.Kind(l.Kind)), u.Depth)
			}
		case discover.Section:
			if u.Depth+1 >= seed.Rules.MaxDepth || !allow(l.URL) || !w.accepts(l.URL) {
				continue
			}
			why, err := r.admitSection(ctx, l.URL)
			if err != nil {
				return nil, "", err
			}
			if why != "" {
				trap = why
				continue
			}
			w.add(l.URL, crawl.Section, crawl.HubRank(crawl.Section), u.Depth+1)
		case discover.Article:
			if u.Depth+1 <= seed.Rules.MaxDepth && allow(l.URL) {
				var age time.Duration
				if !at.IsZero() {
					age = max(time.Since(at), time.Second)
				}
				w.add(l.URL, crawl.Article, crawl.DiscoveryRank(u.Kind, u.Depth+1, age, seed.Priority), u.Depth+1)
			}
		}
	}
	return w.discovered, trap, nil
}

// linkSelection collects the selected links of a page.
type linkSelection struct {
	run        *run
	page       crawl.URL
	pageURL    string
	seen       map[weburl.URL]bool
	discovered []crawl.DiscoveredURL
}

// accepts reports whether a URL is on this domain, does not look like a trap,
// and was not selected yet.
func (w *linkSelection) accepts(to weburl.URL) bool {
	return !w.seen[to] && to.String() != w.pageURL && to.Domain() == w.run.domain.Name &&
		discover.TrapReason(to, time.Now()) == ""
}

func (w *linkSelection) add(to weburl.URL, kind crawl.Kind, rank, depth int) {
	if !w.accepts(to) {
		return
	}
	w.seen[to] = true
	w.discovered = append(w.discovered, crawl.DiscoveredURL{
		DomainID: w.run.domain.ID, URL: to, Kind: kind, Rank: rank, Depth: depth, SeedNumber: w.page.SeedNumber,
	})
}

// withoutKnown drops the links that this run has already put into the frontier:
// on most pages, most of them.
func (r *run) withoutKnown(links []discover.Link) (out []discover.Link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range links {
		if !r.known[l.URL] {
			out = append(out, l)
		}
	}
	return out
}

func (r *run) isKnown(u weburl.URL) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[u]
}

// maxSitemapAge is how old an entry of a discovered sitemap may be.
const maxSitemapAge = 7 * 24 * time.Hour

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// urlMatcher returns a function that applies a seed's allow and deny patterns.
// Deny wins.
func urlMatcher(rules crawl.Rules) func(weburl.URL) bool {
	allow, deny := crawl.CompilePatterns(rules.Allow), crawl.CompilePatterns(rules.Deny)
	any := func(all []*regexp.Regexp, path string) bool {
		for _, p := range all {
			if p.MatchString(path) {
				return true
			}
		}
		return false
	}
	return func(u weburl.URL) bool {
		path := u.RequestURI()
		return !any(deny, path) && (len(allow) == 0 || any(allow, path))
	}
}

// storedHeaders are the response headers that are stored with a page, for
// extraction and exports. Cookies are not stored. The rule of the site's
// tdmrep.json is added under names of its own.
func storedHeaders(h http.Header, tdm *robots.TDMRule) map[string][]string {
	out := map[string][]string{}
	for _, name := range []string{
		"Content-Type", "Content-Language", "Date", "Last-Modified", "Etag", "Cache-Control",
		"Expires", "Link", "Location", "Server", "X-Robots-Tag", "Tdm-Reservation", "Tdm-Policy", "Vary",
	} {
		for _, value := range h.Values(name) {
			out[name] = append(out[name], strings.ToValidUTF8(dropOversized(value), ""))
		}
	}
	if tdm != nil {
		out[article.SiteTDMReservation] = []string{map[bool]string{true: "1", false: "0"}[tdm.Reserved]}
		if tdm.Policy != "" {
			out[article.SiteTDMPolicy] = []string{dropOversized(tdm.Policy)}
		}
	}
	return out
}

// dropOversized returns a header value or message, or an empty string if it is
// longer than any legitimate one.
func dropOversized(value string) string {
	if len(value) > 1024 || strings.ContainsRune(value, 0) {
		return ""
	}
	return strings.ToValidUTF8(value, "")
}
