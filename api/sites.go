package api

import (
	"context"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/optional"
)

// SiteHandler serves sites.
type SiteHandler struct{ Sites *site.Service }

// ListSites lists the workspace's sites.
func (s *SiteHandler) ListSites(
	ctx context.Context, _ spec.ListSitesRequestObject,
) (spec.ListSitesResponseObject, error) {
	sites, err := s.Sites.List(ctx, principal(ctx))
	out := spec.ListSites200JSONResponse{Sites: []spec.Site{}}
	for _, one := range sites {
		out.Sites = append(out.Sites, siteJSON(one))
	}
	return out, err
}

// CreateSite creates a site.
func (s *SiteHandler) CreateSite(
	ctx context.Context, r spec.CreateSiteRequestObject,
) (spec.CreateSiteResponseObject, error) {
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "site", r.Body)
	if err != nil {
		return nil, err
	}
	b := r.Body
	draft := site.Site{
		Name: b.Name, Domains: optional.Value(b.Domains), TimeZone: optional.Value(b.TimeZone),
		WindowSeconds: or(b.WindowSeconds, int(site.DefaultWindow.Seconds())),
		UniqueMethod:  counter.UniqueMethod(or(b.UniqueMethod, spec.UniqueMethod(counter.HyperLogLog))),
		MaxID:         optional.Value(b.MaxId),
		RateHits:      or(b.RateHits, site.DefaultRateHits),
		RateSeconds:   or(b.RateSeconds, int(site.DefaultRateWindow.Seconds())),
		Visitors:      site.VisitorMode(or(b.Visitors, spec.VisitorMode(site.Cookieless))),
		WeeklyUniques: optional.Value(b.WeeklyUniques), PublicCounts: optional.Value(b.PublicCounts),
		Events: siteEvents(optional.Value(b.Events)), Goals: siteGoals(optional.Value(b.Goals)),
	}
	made, plain, replayed, err := s.Sites.Create(ctx, principal(ctx), draft, key)
	location := "/api/v1/sites/" + made.ID.String()
	return spec.CreateSite201JSONResponse{
		Body:    siteWithSecret(made, plain),
		Headers: spec.CreateSite201ResponseHeaders{Location: &location, IdempotentReplayed: ifReplayed(replayed)},
	}, err
}

// GetSite returns a site.
func (s *SiteHandler) GetSite(ctx context.Context, r spec.GetSiteRequestObject) (spec.GetSiteResponseObject, error) {
	one, err := s.Sites.Get(ctx, principal(ctx), r.Id)
	return spec.GetSite200JSONResponse(siteJSON(one)), err
}

// UpdateSite changes a site's settings.
func (s *SiteHandler) UpdateSite(
	ctx context.Context, r spec.UpdateSiteRequestObject,
) (spec.UpdateSiteResponseObject, error) {
	b := r.Body
	c := site.Update{
		Name: b.Name, Domains: b.Domains, WindowSeconds: b.WindowSeconds, MaxID: b.MaxId,
		RateHits: b.RateHits, RateSeconds: b.RateSeconds,
		WeeklyUniques: b.WeeklyUniques, PublicCounts: b.PublicCounts,
	}
	if b.Visitors != nil {
		mode := site.VisitorMode(*b.Visitors)
		c.Visitors = &mode
	}
	if b.Events != nil {
		events := siteEvents(*b.Events)
		c.Events = &events
	}
	if b.Goals != nil {
		goals := siteGoals(*b.Goals)
		c.Goals = &goals
	}
	one, err := s.Sites.Update(ctx, principal(ctx), r.Id, c)
	return spec.UpdateSite200JSONResponse(siteJSON(one)), err
}

// DeleteSite deletes a site.
func (s *SiteHandler) DeleteSite(
	ctx context.Context, r spec.DeleteSiteRequestObject,
) (spec.DeleteSiteResponseObject, error) {
	return spec.DeleteSite204Response{}, s.Sites.Delete(ctx, principal(ctx), r.Id)
}

// RotateSiteSecret generates a new secret key.
func (s *SiteHandler) RotateSiteSecret(
	ctx context.Context, r spec.RotateSiteSecretRequestObject,
) (spec.RotateSiteSecretResponseObject, error) {
	one, plain, err := s.Sites.RotateSecret(ctx, principal(ctx), r.Id)
	return spec.RotateSiteSecret200JSONResponse(siteWithSecret(one, plain)), err
}

// or returns the given value, or else a default.
func or[T any](sent *T, otherwise T) T {
	if sent == nil {
		return otherwise
	}
	return *sent
}

func siteWithSecret(one site.Site, plain secret.Text) spec.SiteWithSecret {
	return spec.SiteWithSecret{Site: siteJSON(one), SecretKey: optional.Of(plain.Reveal())}
}

func siteJSON(one site.Site) spec.Site {
	return spec.Site{
		Id: one.ID, Name: one.Name, Domains: append([]string{}, one.Domains...), TimeZone: one.TimeZone,
		WindowSeconds: one.WindowSeconds,
		UniqueMethod:  spec.UniqueMethod(one.UniqueMethod), MaxId: one.MaxID, RateHits: one.RateHits,
		RateSeconds: one.RateSeconds,
		Visitors:    spec.VisitorMode(one.Visitors), WeeklyUniques: one.WeeklyUniques, PublicCounts: one.PublicCounts,
		WriteKey: one.WriteKey,
		Events:   siteEventsJSON(one.Events), Goals: siteGoalsJSON(one.Goals),
		CreatedAt: one.CreatedAt, UpdatedAt: one.UpdatedAt,
	}
}

func siteEvents(sent []spec.SiteEvent) []site.Event {
	events := make([]site.Event, len(sent))
	for i, e := range sent {
		events[i] = site.Event{Name: e.Name, Properties: append([]string{}, optional.Value(e.Properties)...)}
	}
	return events
}

func siteGoals(sent []spec.SiteGoal) []site.Goal {
	goals := make([]site.Goal, len(sent))
	for i, g := range sent {
		goals[i] = site.Goal{Name: g.Name, Event: optional.Value(g.Event), Page: optional.Value(g.Page)}
	}
	return goals
}

func siteEventsJSON(events []site.Event) []spec.SiteEvent {
	out := make([]spec.SiteEvent, len(events))
	for i, e := range events {
		properties := append([]string{}, e.Properties...)
		out[i] = spec.SiteEvent{Name: e.Name, Properties: &properties}
	}
	return out
}

func siteGoalsJSON(goals []site.Goal) []spec.SiteGoal {
	out := make([]spec.SiteGoal, len(goals))
	for i, g := range goals {
		out[i] = spec.SiteGoal{Name: g.Name, Event: optional.Of(g.Event), Page: optional.Of(g.Page)}
	}
	return out
}
