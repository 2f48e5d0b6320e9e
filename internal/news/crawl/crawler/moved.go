package crawler

import (
	"context"
	"net/http"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/weburl"
)

// moved has a page that redirects to another page of the domain known under that
// one's name alone: else each would be an article of its own. An article that was
// stored here goes there, if that page tells the same story. A redirect that is
// not for good is waited out, as it may lead to a login or a notice of repair.
func (r *run) moved(ctx context.Context, f *crawl.Fetched, res *fetch.Result) (bool, error) {
	if !res.Redirected() || f.URL.Kind.Hub() {
		return false, nil
	}
	to, err := weburl.Parse(res.Final, r.domain.Rules)
	if err != nil || crawl.ID(to) == f.URL.ID {
		return false, nil //nolint:nilerr // it answered; it is kept under the name it has
	}
	stored := f.URL.RawHash != ""
	if stored && forNow(res) {
		if r.fails(f); f.URL.State == crawl.Dead {
			f.Gone = momentOf(res)
		}
		f.Problem = "moved: it leads elsewhere for now"
		return true, nil
	}
	f.URL.State, f.Never, f.URL.Tries = crawl.Refused, true, 0
	if stored {
		f.Gone = momentOf(res)
	}
	if to.Domain() != r.domain.Name {
		return true, nil
	}
	f.MovedTo = crawl.ID(to)
	_, err = r.add(ctx, []crawl.Found{{DomainID: r.domain.ID, URL: to, Kind: crawl.Article, Rank: f.URL.Rank, Depth: f.URL.Depth, SeedNo: f.URL.SeedNo}})
	return true, err
}

// forNow says whether one of the redirects is not for good (RFC 9110, section
// 15.4).
func forNow(res *fetch.Result) bool {
	for _, h := range res.Hops {
		switch h.Status {
		case http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect:
			return true
		}
	}
	return false
}
