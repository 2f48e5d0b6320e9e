package crawler

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/change"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/pagestore"
	"dateline/internal/news/crawl/weburl"
)

// storePage stores a page, and puts into the frontier what it names. The order
// matters: objects first, then what was found, and the URL's own row last.
func (r *run) storePage(ctx context.Context, f *crawl.FetchRecord, res *fetch.Result, v Verdict) error {
	u := &f.URL
	if moved, err := r.handleRedirect(ctx, f, res); moved || err != nil {
		return err
	}
	seed := r.seeds[u.SeedNumber]
	follow := u.Kind.Hub() || u.Depth < seed.Rules.MaxDepth
	finds, err := r.Parser.Parse(u.Kind, res, r.domain.Rules, r.memo, follow)
	if err != nil {
		r.Log.Debug("a page could not be read", "domain", r.domain.Name, "url", u.ID, "error", err)
	}
	r.recordCanonical(u, finds)
	raw := pagestore.Hash(res.Body)
	content := raw
	switch {
	case u.Kind.Hub():
		content = hubDigest(finds.Links)
	case finds.Text != "":
		digest, hash := change.Fingerprints(finds.Title, finds.Text)
		content, u.SimHash = digest.String(), int64(hash) //nolint:gosec // bits, whatever the sign
	}
	if err := r.storeVersion(ctx, f, res, raw, content); err != nil {
		return err
	}
	var fresh int
	if follow && !finds.NoFollow {
		found, trap, err := r.selectLinks(ctx, *u, seed, finds.Links, v)
		if err != nil {
			return err
		}
		if fresh, err = r.addToFrontier(ctx, found); err != nil {
			return err
		}
		f.Error = trap
	}
	u.State, u.Attempts = crawl.Stored, 0
	u.ETag, u.LastModified = dropOversized(res.ETag), dropOversized(res.LastModified)
	news := f.Changed
	if u.Kind.Hub() {
		news = fresh > 0
	}
	r.scheduleNext(f, news)
	return r.recordSeedCrawl(ctx, f, fresh > 0, "")
}

// storeVersion keeps a version of what changed. Templates move all the time: of a page
// whose articles, or whose text, are the same, nothing is kept.
func (r *run) storeVersion(ctx context.Context, f *crawl.FetchRecord, res *fetch.Result, raw, content string) error {
	u := &f.URL
	f.Changed = content != u.ContentHash
	// What was given up and is back is handed on as it is: its article may be
	// marked as gone.
	back := u.State == crawl.Dead && u.RawHash != ""
	if !back && (!f.Changed || raw == u.RawHash) {
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
	f.Version = &crawl.PageVersion{DomainID: r.domain.ID, URLID: u.ID, URL: u.URL, FetchedAt: startTime(res), Status: res.Status,
		Bytes: len(res.Body), StoredBytes: stored, Kind: u.Kind, RawHash: raw, FinalURL: res.FinalURL, Header: storedHeaders(res.Header)}
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

// selectLinks chooses, among what a page names, what its seed wants to have. trap says
// why some of that is left out all the same.
func (r *run) selectLinks(ctx context.Context, u crawl.URL, seed crawl.Seed, links []discover.Link, v Verdict) (found []crawl.DiscoveredURL, trap string, err error) {
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
		// Sitemaps that nobody asked for may list a site's whole past.
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

// linkSelection are the URLs of a page that its seed wants to have.
type linkSelection struct {
	run        *run
	page       crawl.URL
	pageURL    string // its URL
	seen       map[weburl.URL]bool
	discovered []crawl.DiscoveredURL
}

// accepts says whether a URL is of this domain, no trap by its form, and not taken
// yet.
func (w *linkSelection) accepts(to weburl.URL) bool {
	return !w.seen[to] && to.String() != w.pageURL && to.Domain() == w.run.domain.Name && discover.TrapReason(to, time.Now()) == ""
}

func (w *linkSelection) add(to weburl.URL, kind crawl.Kind, rank, depth int) {
	if !w.accepts(to) {
		return
	}
	w.seen[to] = true
	w.discovered = append(w.discovered, crawl.DiscoveredURL{DomainID: w.run.domain.ID, URL: to, Kind: kind, Rank: rank, Depth: depth, SeedNumber: w.page.SeedNumber})
}

// withoutKnown are the links whose URLs this run has not put into the frontier yet. On
// most pages few are.
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

// maxSitemapAge is how old an entry of a sitemap may be that no seed names.
const maxSitemapAge = 7 * 24 * time.Hour

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// urlMatcher makes a test of a seed's rules. Deny wins. A pattern is a part of the
// URL behind its host; * stands for anything, $ at its end for the end.
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

// storedHeaders are the headers that are stored with a page, for its readers and for
// exports. Cookies are not.
func storedHeaders(h http.Header) map[string][]string {
	out := map[string][]string{}
	for _, name := range []string{"Content-Type", "Content-Language", "Date", "Last-Modified", "Etag", "Cache-Control", "Expires", "Link", "Location", "Server", "X-Robots-Tag", "Vary"} {
		for _, value := range h.Values(name) {
			out[name] = append(out[name], strings.ToValidUTF8(dropOversized(value), ""))
		}
	}
	return out
}

// dropOversized drops what is too long to be what it says it is.
func dropOversized(value string) string {
	if len(value) > 1024 || strings.ContainsRune(value, 0) {
		return ""
	}
	return strings.ToValidUTF8(value, "")
}
