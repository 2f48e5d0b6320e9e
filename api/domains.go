package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"dateline/api/spec"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seeds"
)

// ListDomains lists the domains on which the workspace has seeds.
func (s *Server) ListDomains(ctx context.Context, r spec.ListDomainsRequestObject) (spec.ListDomainsResponseObject, error) {
	c, err := s.crawler()
	if err != nil {
		return nil, err
	}
	limit := defaultPage
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	all, err := c.ListDomains(ctx, principal(ctx), value(r.Params.Cursor), limit+1)
	if err != nil {
		return nil, err
	}
	out := spec.ListDomains200JSONResponse{Domains: []spec.Domain{}}
	if len(all) > limit {
		all = all[:limit]
		out.NextCursor = optional(all[limit-1].Name)
	}
	for _, d := range all {
		out.Domains = append(out.Domains, domainJSON(seeds.Domain{Domain: d}))
	}
	return out, nil
}

// GetDomain reads a domain.
func (s *Server) GetDomain(ctx context.Context, r spec.GetDomainRequestObject) (spec.GetDomainResponseObject, error) {
	d, err := s.domain(ctx, r.Domain)
	return spec.GetDomain200JSONResponse(d), err
}

// EditDomain changes how a domain is crawled.
func (s *Server) EditDomain(ctx context.Context, r spec.EditDomainRequestObject) (spec.EditDomainResponseObject, error) {
	c, err := s.crawler()
	if err != nil {
		return nil, err
	}
	if err := c.SetRendering(ctx, principal(ctx), r.Domain, r.Body.Render); err != nil {
		return nil, err
	}
	d, err := s.domain(ctx, r.Domain)
	return spec.EditDomain200JSONResponse(d), err
}

func (s *Server) domain(ctx context.Context, name string) (spec.Domain, error) {
	c, err := s.crawler()
	if err != nil {
		return spec.Domain{}, err
	}
	d, err := c.GetDomain(ctx, principal(ctx), name)
	return domainJSON(d), err
}

func (s *Server) control(ctx context.Context, name string, what crawl.Command) (spec.Domain, error) {
	c, err := s.crawler()
	if err != nil {
		return spec.Domain{}, err
	}
	if _, err := c.ApplyCommand(ctx, principal(ctx), name, what); err != nil {
		return spec.Domain{}, err
	}
	return s.domain(ctx, name)
}

// PauseDomain stops the crawl of a domain.
func (s *Server) PauseDomain(ctx context.Context, r spec.PauseDomainRequestObject) (spec.PauseDomainResponseObject, error) {
	d, err := s.control(ctx, r.Domain, crawl.Pause)
	return spec.PauseDomain200JSONResponse(d), err
}

// ResumeDomain goes on with the crawl of a domain.
func (s *Server) ResumeDomain(ctx context.Context, r spec.ResumeDomainRequestObject) (spec.ResumeDomainResponseObject, error) {
	d, err := s.control(ctx, r.Domain, crawl.Resume)
	return spec.ResumeDomain200JSONResponse(d), err
}

// RunDomain looks at a domain's seeds now.
func (s *Server) RunDomain(ctx context.Context, r spec.RunDomainRequestObject) (spec.RunDomainResponseObject, error) {
	d, err := s.control(ctx, r.Domain, crawl.RunNow)
	return spec.RunDomain200JSONResponse(d), err
}

// EmptyFrontier forgets what waits to be fetched of a domain.
func (s *Server) EmptyFrontier(ctx context.Context, r spec.EmptyFrontierRequestObject) (spec.EmptyFrontierResponseObject, error) {
	c, err := s.crawler()
	if err != nil {
		return nil, err
	}
	forgotten, err := c.ApplyCommand(ctx, principal(ctx), r.Domain, crawl.Empty)
	return spec.EmptyFrontier200JSONResponse{Forgotten: forgotten}, err
}

// DownloadWARC streams stored pages.
func (s *Server) DownloadWARC(ctx context.Context, r spec.DownloadWARCRequestObject) (spec.DownloadWARCResponseObject, error) {
	c, err := s.crawler()
	if err != nil {
		return nil, err
	}
	// Whether there is anything of the workspace is said before anything is sent.
	if _, err := c.GetDomain(ctx, principal(ctx), r.Domain); err != nil {
		return nil, err
	}
	if err := seeds.CheckRange(r.Params.From, r.Params.To); err != nil {
		return nil, err
	}
	return warcArchive{ctx: ctx, server: s, domain: r.Domain, from: r.Params.From, to: r.Params.To}, nil
}

type warcArchive struct {
	ctx      context.Context
	server   *Server
	domain   string
	from, to time.Time
}

// VisitDownloadWARCResponse writes the file. When something goes wrong on the
// way the connection is cut, so that nobody takes half a file for a whole one.
func (a warcArchive) VisitDownloadWARCResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/warc")
	w.Header().Set("Content-Disposition", `attachment; filename="`+a.domain+`.warc.gz"`)
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_, _, err := a.server.Archives.Write(a.ctx, w, a.domain, a.from, a.to, func(int) { _ = control.Flush() })
	if err == nil {
		return nil
	}
	if !errors.Is(err, context.Canceled) {
		a.server.Log.Error("an archive was cut off", "domain", a.domain, "error", err)
	}
	return http.ErrAbortHandler
}

// ExportWARC has stored pages written into the object store.
func (s *Server) ExportWARC(ctx context.Context, r spec.ExportWARCRequestObject) (spec.ExportWARCResponseObject, error) {
	c, err := s.crawler()
	if err != nil {
		return nil, err
	}
	id, err := c.StartExport(ctx, principal(ctx), r.Domain, r.Body.From, r.Body.To)
	return spec.ExportWARC202JSONResponse{Id: id, Domain: r.Domain, Status: "waiting"}, err
}

// GetExport says where an export is.
func (s *Server) GetExport(ctx context.Context, r spec.GetExportRequestObject) (spec.GetExportResponseObject, error) {
	c, err := s.crawler()
	if err != nil {
		return nil, err
	}
	e, err := c.GetExport(ctx, principal(ctx), r.Domain, r.Export)
	if err != nil {
		return nil, err
	}
	out := spec.GetExport200JSONResponse{Id: r.Export, Domain: r.Domain, Status: "waiting"}
	if e.URL != "" {
		out.Status, out.Url, out.Bytes = "done", &e.URL, &e.Bytes
	}
	return out, nil
}

func domainJSON(d seeds.Domain) spec.Domain {
	out := spec.Domain{Domain: d.Name, Status: "idle", PausedAt: d.PausedAt, DelayMs: int(d.CrawlDelay.Milliseconds()), Score: float32(d.Score),
		ResponseMs: float32(d.ResponseTime.Microseconds()) / 1000, NextDue: d.NextDue, LastCrawl: d.LastCrawl, FetchedToday: d.BudgetUsed, Fetched: d.Fetched, Stored: d.Stored,
		Unchanged: d.Unchanged, Failed: d.Failed, Timeouts: d.Timeouts, Refused: d.Excluded, Bytes: d.Bytes, CreatedAt: d.CreatedAt.UTC(),
		Render: d.Render, IgnoredParameters: append([]string{}, d.Rules.Drop...)}
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
		list[i].State, list[i].Urls, list[i].Due, list[i].Leased = spec.DomainQueueState(q.State), q.URLs, q.Due, q.Leased
	}
	out.Queue = &list
	answers := make([]struct {
		Status int   `json:"status"`
		Urls   int64 `json:"urls"`
	}, len(d.Statuses))
	for i, a := range d.Statuses {
		answers[i].Status, answers[i].Urls = a.Status, a.URLs
	}
	out.Answers = &answers
	out.News = &struct {
		Articles        int64   `json:"articles"`
		Duplicates      int64   `json:"duplicates"`
		FoundP50Seconds float32 `json:"found_p50_seconds"`
		FoundP95Seconds float32 `json:"found_p95_seconds"`
		Late            int64   `json:"late"`
		Timed           int64   `json:"timed"`
	}{d.Weekly.Articles, d.Weekly.Duplicates, float32(d.Weekly.P50.Seconds()), float32(d.Weekly.P95.Seconds()), d.Weekly.Late, d.Weekly.Measured}
	problems := make([]spec.DomainProblem, len(d.RecentErrors))
	for i, p := range d.RecentErrors {
		problems[i] = spec.DomainProblem{Url: p.URL, State: spec.DomainProblemState(p.State), Why: p.Reason, At: p.At}
		if p.Status != 0 {
			problems[i].Status = &p.Status
		}
	}
	out.Problems = &problems
	return out
}
