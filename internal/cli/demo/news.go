package demo

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"dateline/internal/testing/crawltest"
)

// Hosts returns the names of the news sites, in the reserved top-level domain (RFC 6761 section 6.2).
// The first one is the newsroom's own.
func Hosts() []string { return []string{"bao-mai.test", "ngay-moi.test", "river-post.test"} }

const (
	ownSite = 0
	// newsInterval is the interval between two articles, on alternating sites.
	newsInterval = 20 * time.Second
	// crawlSeconds is the crawl interval of the seeds, which is the allowed minimum.
	crawlSeconds = 60
)

// NewSites starts the news sites, at a port unless it is taken.
func NewSites(port string) (*crawltest.World, error) {
	return crawltest.New(crawltest.Options{
		Sites: len(Hosts()), Hosts: Hosts(), Port: port, Articles: 6, Sections: 2, ArticlesPerHub: 8, Readable: true,
	})
}

// publishNews publishes one story on all sites, and then articles until ctx ends.
func (d *Demo) publishNews(ctx context.Context) {
	if d.Sites == nil {
		return
	}
	if site := d.Sites.Site(ownSite); !slices.ContainsFunc(site.Articles(), func(a crawltest.Article) bool {
		return a.Title == story()[0].Title
	}) {
		for i, a := range story() {
			d.Sites.Site(i % len(Hosts())).Write(a)
		}
	}
	next := time.NewTicker(newsInterval)
	defer next.Stop()
	for number := 0; ; number++ {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			d.Sites.Site(number % len(Hosts())).Publish()
		}
	}
}

// seeds crawls the sites where they are now, and no longer where they were.
func (f *filler) seeds(ctx context.Context) error {
	if f.Sites == nil {
		return nil
	}
	missing := map[string]bool{}
	for _, site := range f.Sites.Sites() {
		missing[site.Home()] = true
	}
	old, err := f.list(ctx, "/seeds?limit=200", "seeds")
	if err != nil {
		return err
	}
	for _, seed := range old {
		at, err := url.Parse(seed.URL)
		if err == nil && slices.Contains(Hosts(), at.Hostname()) && !missing[seed.URL] {
			if err := f.send(ctx, http.MethodDelete, "/seeds/"+seed.ID.String(), nil, nil); err != nil {
				return err
			}
		}
		delete(missing, seed.URL)
	}
	for address := range missing {
		if _, err := f.create(ctx, "/seeds", object{
			"url": address, "min_interval_seconds": crawlSeconds, "max_interval_seconds": crawlSeconds,
		}); err != nil {
			return err
		}
	}
	return nil
}

// articleLinks returns the addresses of the newsroom's own articles, the newest first, as readers see
// them: without the port of the generated site.
func (f *filler) articleLinks() (links []string) {
	if f.Sites == nil {
		return nil
	}
	for _, a := range slices.Backward(f.Sites.Site(ownSite).Articles()) {
		if at, err := url.Parse(a.URL); err == nil {
			links = append(links, "https://"+at.Hostname()+at.Path)
		}
	}
	return links
}
