package api

import (
	"context"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
)

// PostStats returns the counts of a post on all sites of the workspace.
func (s *CountHandler) PostStats(
	ctx context.Context, r spec.PostStatsRequestObject,
) (spec.PostStatsResponseObject, error) {
	who := principal(ctx)
	p, err := s.Posts.PostInWorkspace(ctx, who.WorkspaceID, r.Id)
	if err != nil {
		return nil, err
	}
	sites, err := s.Sites.List(ctx, who)
	if err != nil {
		return nil, err
	}
	all := []counter.Site{site.PostsSite(who.WorkspaceID)}
	for _, one := range sites {
		v, err := one.CounterSite()
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	out := spec.PostStats{
		PostId: p.ID, Country: spec.CountByValue{}, Device: spec.CountByValue{},
		Referrer: spec.CountByValue{}, Filtered: spec.CountByValue{},
	}
	for _, one := range all {
		if err := s.addStats(ctx, one, p.ID.String(), &out); err != nil {
			return nil, err
		}
	}
	return spec.PostStats200JSONResponse(out), nil
}

// addStats adds the counts of a page on one site.
func (s *CountHandler) addStats(ctx context.Context, one counter.Site, page string, out *spec.PostStats) error {
	stats, err := s.Counts.PageStats(ctx, one, []string{page})
	if err != nil {
		return err
	}
	funnel, err := s.Counts.Funnel(ctx, one, page)
	if err != nil {
		return err
	}
	dimensions, err := s.Counts.Dimensions(ctx, one, page)
	if err != nil {
		return err
	}
	filtered, err := s.Counts.FilteredCounts(ctx, one.ID, page)
	if err != nil {
		return err
	}
	for _, got := range stats {
		out.Views += got.Views
		out.Clicks += got.Clicks
		out.Conversions += got.Conversions
		out.Uniques.Day += got.Uniques.Day
		out.Uniques.Week += got.Uniques.Week
		out.Uniques.AllTime += got.Uniques.AllTime
	}
	out.Funnel.Views += funnel.Views
	out.Funnel.Clicks += funnel.Clicks
	out.Funnel.Conversions += funnel.Conversions
	addCounts(out.Country, dimensions.Country)
	addCounts(out.Device, dimensions.Device)
	addCounts(out.Referrer, dimensions.Referrer)
	addCounts(out.Filtered, filtered)
	return nil
}

func addCounts(to spec.CountByValue, more map[string]int64) {
	for value, n := range more {
		to[value] += n
	}
}
