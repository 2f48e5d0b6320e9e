package crawler

import (
	"context"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/fetch"
)

// detectKind corrects the kind of a hub by the content of its document: a seed may have been
// added without one, and links guess it from the URL. A page that appears later in the place
// of a feed or sitemap, such as an error message, changes nothing.
func (r *run) detectKind(ctx context.Context, u *crawl.URL, res *fetch.Result) error {
	if !u.Kind.Hub() || res.Outcome != fetch.OK {
		return nil
	}
	kind := u.Kind
	switch discover.Detect(textOf(res)) {
	case discover.Feed:
		kind = crawl.Feed
	case discover.Sitemap:
		kind = crawl.Sitemap
	case discover.Section:
		if u.RawHash == "" && kind != crawl.Home {
			kind = crawl.Section
		}
	default:
		if kindOf(kind) == fetch.KindHub && res.ContentType != "" && !fetch.IsHTML(res.ContentType) {
			res.Outcome, res.Reason = fetch.WrongType, "the content type is "+res.ContentType
		}
		return nil
	}
	if kind == u.Kind {
		return nil
	}
	u.Kind = kind
	if !r.isSeed(*u) {
		return nil
	}
	return r.Seeds.SetSeedKind(ctx, r.domain.ID, u.ID, kind)
}
