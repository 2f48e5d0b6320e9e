package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/infra/optional"
)

// defaultLivePages is the number of pages in a stream without a selection.
const defaultLivePages = 10

// maxLiveCandidates is the number of trending pages that these are selected
// from.
const maxLiveCandidates = 50

// LiveViews streams the counts of pages as they change.
func (s *CountHandler) LiveViews(
	ctx context.Context, r spec.LiveViewsRequestObject,
) (spec.LiveViewsResponseObject, error) {
	pages, err := pageNames(optional.Value(r.Params.Page))
	if err != nil {
		return nil, err
	}
	one, err := countedSite(ctx, s.Sites, r.Id)
	if err != nil {
		return nil, err
	}
	return viewStream{ctx: ctx, views: s, site: one, pages: pages}, nil
}

type viewStream struct {
	ctx   context.Context
	views *CountHandler
	site  counter.Site
	pages []string
}

// VisitLiveViewsResponse writes the stream until the client disconnects.
func (v viewStream) VisitLiveViewsResponse(w http.ResponseWriter) error {
	flush := begin(w)
	defer endStream(v.ctx, w)
	if flush() != nil {
		return nil
	}
	// Subscribe before the first read, so that no change is missed.
	changed := v.views.Signals.Listen(v.ctx, v.site.ID)
	ping, look := time.NewTicker(streamPing), time.NewTicker(streamLook)
	defer ping.Stop()
	defer look.Stop()
	var before []byte
	for {
		now, err := v.readStats()
		if err != nil {
			return nil // the status is already sent; the client reconnects
		}
		if !bytes.Equal(now, before) {
			if _, err := fmt.Fprintf(w, "event: stats\ndata: %s\n\n", now); err != nil || flush() != nil {
				return nil
			}
			before = now
		}
		select {
		case <-v.ctx.Done():
			return nil
		case <-ping.C:
			if _, err := fmt.Fprint(w, ": ping\n\n"); err != nil || flush() != nil {
				return nil
			}
		case <-changed:
		case <-look.C:
		}
	}
}

func (v viewStream) readStats() ([]byte, error) {
	pages := v.pages
	if len(pages) == 0 {
		// The ranking covers more than the last minutes, so select by recent views below.
		top, err := v.views.Counts.Trending(v.ctx, v.site.ID, counter.TrendingNow, maxLiveCandidates)
		if err != nil {
			return nil, err
		}
		for _, one := range top {
			pages = append(pages, one.Page)
		}
	}
	counts, err := v.views.Counts.RecentViews(v.ctx, v.site.ID, pages)
	if err != nil {
		return nil, err
	}
	recent := make(map[string]int64, len(pages))
	for i, page := range pages {
		recent[page] = counts[i]
	}
	if len(v.pages) == 0 {
		pages = topByRecentViews(pages, recent)
	}
	var stats []counter.Stats
	if len(pages) > 0 {
		if stats, err = v.views.Counts.PageStats(v.ctx, v.site, pages); err != nil {
			return nil, err
		}
	}
	out := statsJSON(stats)
	for i, one := range out.Pages {
		n := recent[one.Page]
		out.Pages[i].Recent = &n
	}
	concurrents, err := v.views.Counts.Concurrents(v.ctx, v.site.ID)
	if err != nil {
		return nil, err
	}
	out.Concurrents = &concurrents
	return json.Marshal(out)
}

// topByRecentViews returns the first defaultLivePages pages by recent views,
// without those that have none.
func topByRecentViews(pages []string, recent map[string]int64) []string {
	pages = slices.DeleteFunc(pages, func(page string) bool { return recent[page] == 0 })
	slices.SortStableFunc(pages, func(a, b string) int { return cmp.Compare(recent[b], recent[a]) })
	return pages[:min(defaultLivePages, len(pages))]
}
