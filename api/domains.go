package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"dateline/api/spec"
	"dateline/internal/infra/optional"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seeds"
)

// ListDomains lists the domains on which the workspace has seeds.
func (s *CrawlHandler) ListDomains(
	ctx context.Context, r spec.ListDomainsRequestObject,
) (spec.ListDomainsResponseObject, error) {
	limit := defaultPage
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	all, err := s.Crawl.ListDomains(ctx, principal(ctx), optional.Value(r.Params.Cursor), limit+1)
	if err != nil {
		return nil, err
	}
	out := spec.ListDomains200JSONResponse{Domains: []spec.Domain{}}
	if len(all) > limit {
		all = all[:limit]
		out.NextCursor = optional.Of(all[limit-1].Name)
	}
	for _, d := range all {
		out.Domains = append(out.Domains, domainJSON(seeds.Domain{Domain: d}))
	}
	return out, nil
}

// GetDomain returns a domain.
func (s *CrawlHandler) GetDomain(
	ctx context.Context, r spec.GetDomainRequestObject,
) (spec.GetDomainResponseObject, error) {
	d, err := s.domain(ctx, r.Domain)
	return spec.GetDomain200JSONResponse(d), err
}

// UpdateDomain updates how a domain is crawled.
func (s *CrawlHandler) UpdateDomain(
	ctx context.Context, r spec.UpdateDomainRequestObject,
) (spec.UpdateDomainResponseObject, error) {
	if err := s.Crawl.SetRendering(ctx, principal(ctx), r.Domain, r.Body.Render); err != nil {
		return nil, err
	}
	d, err := s.domain(ctx, r.Domain)
	return spec.UpdateDomain200JSONResponse(d), err
}

func (s *CrawlHandler) domain(ctx context.Context, name string) (spec.Domain, error) {
	d, err := s.Crawl.GetDomain(ctx, principal(ctx), name)
	return domainJSON(d), err
}

func (s *CrawlHandler) applyCommand(ctx context.Context, name string, command crawl.Command) (spec.Domain, error) {
	if _, err := s.Crawl.ApplyCommand(ctx, principal(ctx), name, command); err != nil {
		return spec.Domain{}, err
	}
	return s.domain(ctx, name)
}

// PauseDomain pauses the crawl of a domain.
func (s *CrawlHandler) PauseDomain(
	ctx context.Context, r spec.PauseDomainRequestObject,
) (spec.PauseDomainResponseObject, error) {
	d, err := s.applyCommand(ctx, r.Domain, crawl.Pause)
	return spec.PauseDomain200JSONResponse(d), err
}

// ResumeDomain resumes the crawl of a domain.
func (s *CrawlHandler) ResumeDomain(
	ctx context.Context, r spec.ResumeDomainRequestObject,
) (spec.ResumeDomainResponseObject, error) {
	d, err := s.applyCommand(ctx, r.Domain, crawl.Resume)
	return spec.ResumeDomain200JSONResponse(d), err
}

// RunDomain crawls a domain's seeds now.
func (s *CrawlHandler) RunDomain(
	ctx context.Context, r spec.RunDomainRequestObject,
) (spec.RunDomainResponseObject, error) {
	d, err := s.applyCommand(ctx, r.Domain, crawl.RunNow)
	return spec.RunDomain200JSONResponse(d), err
}

// EmptyFrontier empties a domain's queue.
func (s *CrawlHandler) EmptyFrontier(
	ctx context.Context, r spec.EmptyFrontierRequestObject,
) (spec.EmptyFrontierResponseObject, error) {
	deleted, err := s.Crawl.ApplyCommand(ctx, principal(ctx), r.Domain, crawl.Empty)
	return spec.EmptyFrontier200JSONResponse{Deleted: deleted}, err
}

// DownloadWARC streams the stored pages of a domain.
func (s *CrawlHandler) DownloadWARC(
	ctx context.Context, r spec.DownloadWARCRequestObject,
) (spec.DownloadWARCResponseObject, error) {
	// Errors must be reported before the response starts.
	if _, err := s.Crawl.GetDomain(ctx, principal(ctx), r.Domain); err != nil {
		return nil, err
	}
	if err := seeds.CheckRange(r.Params.From, r.Params.To); err != nil {
		return nil, err
	}
	return warcArchive{ctx: ctx, crawl: s, domain: r.Domain, from: r.Params.From, to: r.Params.To}, nil
}

type warcArchive struct {
	ctx      context.Context
	crawl    *CrawlHandler
	domain   string
	from, to time.Time
}

// VisitDownloadWARCResponse writes the file. After an error the connection is
// aborted, so that clients notice that the file is incomplete.
func (a warcArchive) VisitDownloadWARCResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/warc")
	w.Header().Set("Content-Disposition", `attachment; filename="`+a.domain+`.warc.gz"`)
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_, _, err := a.crawl.Archives.Write(a.ctx, w, a.domain, a.from, a.to, func(int) { _ = control.Flush() })
	if err == nil {
		return nil
	}
	if !errors.Is(err, context.Canceled) {
		a.crawl.Log.Error("WARC download was aborted", "domain", a.domain, "error", err)
	}
	return http.ErrAbortHandler
}

// ExportWARC starts an export of stored pages into the object store.
func (s *CrawlHandler) ExportWARC(
	ctx context.Context, r spec.ExportWARCRequestObject,
) (spec.ExportWARCResponseObject, error) {
	id, err := s.Crawl.StartExport(ctx, principal(ctx), r.Domain, r.Body.From, r.Body.To)
	return spec.ExportWARC202JSONResponse{Id: id, Domain: r.Domain, Status: "pending"}, err
}

// GetExport returns the status of an export.
func (s *CrawlHandler) GetExport(
	ctx context.Context, r spec.GetExportRequestObject,
) (spec.GetExportResponseObject, error) {
	e, err := s.Crawl.GetExport(ctx, principal(ctx), r.Domain, r.Export)
	if err != nil {
		return nil, err
	}
	out := spec.GetExport200JSONResponse{Id: r.Export, Domain: r.Domain, Status: "pending"}
	if e.URL != "" {
		out.Status, out.Url, out.Bytes = "done", &e.URL, &e.Bytes
	}
	return out, nil
}

func domainJSON(d seeds.Domain) spec.Domain {
	out := spec.Domain{
		Domain: d.Name, Status: "idle", PausedAt: d.PausedAt,
		CrawlDelayMs: int(d.CrawlDelay.Milliseconds()), Score: float32(d.Score),
		ResponseMs: float32(d.ResponseTime.Microseconds()) / 1000, NextDue: d.NextDue, LastCrawl: d.LastCrawl,
		FetchedToday: d.BudgetUsed, Fetched: d.Fetched, Stored: d.Stored,
		Unchanged: d.Unchanged, Failed: d.Failed, Timeouts: d.Timeouts, Excluded: d.Excluded, Bytes: d.Bytes,
		CreatedAt: d.CreatedAt.UTC(),
		Render:    d.Render, IgnoredParameters: append([]string{}, d.Rules.Drop...),
	}
	now := time.Now()
	switch {
	case d.PausedAt != nil:
		out.Status = "paused"
	case d.NotBefore != nil && d.NotBefore.After(now):
		out.Status, out.NotBefore = "blocked", d.NotBefore
	case d.LeasedUntil != nil && d.LeasedUntil.After(now):
		out.Status = "crawling"
	}
	if d.States == nil {
		return out
	}
	list := make([]struct {
		Due    int64                 `json:"due"`
		Leased int64                 `json:"leased"`
		State  spec.DomainQueueState `json:"state"`
		Urls   int64                 `json:"urls"`
	}, len(d.States))
	for i, q := range d.States {
		list[i].State, list[i].Urls, list[i].Due, list[i].Leased = spec.DomainQueueState(q.State), q.URLs, q.Due,
			q.Leased
	}
	out.Queue = &list
	responses := make([]struct {
		Status int   `json:"status"`
		Urls   int64 `json:"urls"`
	}, len(d.Statuses))
	for i, a := range d.Statuses {
		responses[i].Status, responses[i].Urls = a.Status, a.URLs
	}
	out.Responses = &responses
	out.Weekly = &struct {
		Articles            int64   `json:"articles"`
		DiscoveryP50Seconds float32 `json:"discovery_p50_seconds"`
		DiscoveryP95Seconds float32 `json:"discovery_p95_seconds"`
		Duplicates          int64   `json:"duplicates"`
		Late                int64   `json:"late"`
		Measured            int64   `json:"measured"`
	}{
		d.Weekly.Articles, float32(d.Weekly.P50.Seconds()), float32(d.Weekly.P95.Seconds()), d.Weekly.Duplicates,
		d.Weekly.Late, d.Weekly.Measured,
	}
	hubs := make([]spec.HubSubscription, len(d.Hubs))
	for i, h := range d.Hubs {
		hubs[i] = hubJSON(h, now)
	}
	out.Hubs = &hubs
	failures := make([]spec.DomainFetchError, len(d.RecentErrors))
	for i, p := range d.RecentErrors {
		failures[i] = spec.DomainFetchError{
			Url: p.URL, State: spec.DomainFetchErrorState(p.State), Reason: noteJSON(crawl.Problem(p.Reason, p.Status)),
			At: p.At,
		}
		if p.Status != 0 {
			failures[i].Status = &p.Status
		}
	}
	out.RecentErrors = &failures
	pages := make([]spec.PageWithoutArticle, len(d.NoArticle))
	for i, p := range d.NoArticle {
		pages[i] = spec.PageWithoutArticle{
			Url: p.URL, FetchedAt: p.At.UTC(), Reason: spec.NoArticleReason(p.Reason),
			Detail: p.Detail,
		}
	}
	out.WithoutArticle = &pages
	return out
}

func hubJSON(h crawl.PushedFeed, now time.Time) spec.HubSubscription {
	out := spec.HubSubscription{
		Feed: h.FeedURL, Hub: h.Hub, Status: spec.HubSubscriptionStatus(h.Status),
		LeaseEndsAt: h.LeaseEndsAt, DeliveredAt: h.DeliveredAt,
	}
	if h.Status == crawl.PushActive && h.LeaseEndsAt != nil && !h.LeaseEndsAt.After(now) {
		out.Status = spec.HubSubscriptionStatusExpired
	}
	if problem, detail, _ := strings.Cut(h.LastError, ": "); problem != "" {
		code := spec.HubSubscriptionProblem(problem)
		out.Problem = &code
		if detail != "" {
			out.Detail = &detail
		}
	}
	return out
}
