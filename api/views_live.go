package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"dateline/api/spec"
	"dateline/internal/views"
)

// livePages is how many pages a stream shows that asks for none.
const livePages = 10

// LiveViews streams the numbers of pages as they change.
func (s *Server) LiveViews(ctx context.Context, r spec.LiveViewsRequestObject) (spec.LiveViewsResponseObject, error) {
	pages, err := pageNames(value(r.Params.Page))
	if err != nil {
		return nil, err
	}
	one, err := s.countedSite(ctx, r.Id)
	if err != nil {
		return nil, err
	}
	return viewStream{ctx: ctx, views: s.Views, site: one, pages: pages}, nil
}

type viewStream struct {
	ctx   context.Context
	views *Views
	site  views.Site
	pages []string
}

// VisitLiveViewsResponse writes the numbers until the reader goes away.
func (v viewStream) VisitLiveViewsResponse(w http.ResponseWriter) error {
	flush := begin(w)
	defer endStream(v.ctx, w)
	if flush() != nil {
		return nil
	}
	// Listening begins before the first look, so that nothing falls between.
	changed := v.views.Pulses.Listen(v.ctx, v.site.ID)
	ping, look := time.NewTicker(streamPing), time.NewTicker(streamLook)
	defer ping.Stop()
	defer look.Stop()
	var before []byte
	for {
		now, err := v.look()
		if err != nil {
			return nil // the status is sent; the reader comes back
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

func (v viewStream) look() ([]byte, error) {
	pages := v.pages
	if len(pages) == 0 {
		most, err := v.views.Counts.Trending(v.ctx, v.site.ID, views.TrendingNow, livePages)
		if err != nil {
			return nil, err
		}
		for _, one := range most {
			pages = append(pages, one.Page)
		}
	}
	var stats []views.Stats
	if len(pages) > 0 {
		var err error
		if stats, err = v.views.Counts.StatsOf(v.ctx, v.site, pages); err != nil {
			return nil, err
		}
	}
	return json.Marshal(statsJSON(stats))
}
