package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/infra/blob"
	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
)

// LearnStore keeps selectors.
type LearnStore interface {
	GetCrawlDomain(ctx context.Context, domain string) (crawl.Domain, error)
	ExtractionHealth(ctx context.Context, domain int32) (Health, error)
	RecentArticlePages(ctx context.Context, domain int32, limit int) ([]PageRef, error)
	SaveLearnedSelectors(ctx context.Context, domain crawl.Domain, n Selectors) (made Selectors, done bool, err error)
	RollBackSelectors(ctx context.Context, domain crawl.Domain, workspace uuid.UUID, why string, wished bool) (back Selectors, done bool, err error)
	RecordLearningFailure(ctx context.Context, domain crawl.Domain, why string) error
}

// Learner does about the selectors of a site what is to be done.
type Learner struct {
	Store  LearnStore
	Pages  Pages
	Sites  *SiteCache
	Finder FieldFinder // nil: there is none
	Meter  Meter
	Log    *slog.Logger
}

// LearnResult says what was done.
type LearnResult struct {
	Action  string // learned, rolled_back, given_up or nothing
	Version int    `json:",omitempty"` // in use now
	Reason  string `json:",omitempty"`
}

// maxLearnPages is how many pages are learned from: enough for two templates.
const maxLearnPages = 12

// Learn does what the monitor of a site asks for. It may be run again at any
// time: what was done already is not done twice.
func (l *Learner) Learn(ctx context.Context, domain string, beat func()) (LearnResult, error) {
	d, err := l.Store.GetCrawlDomain(ctx, domain)
	if err != nil {
		return LearnResult{}, err
	}
	h, err := l.Store.ExtractionHealth(ctx, d.ID)
	if err != nil {
		return LearnResult{}, err
	}
	switch h.RequestedAction {
	case selector.ActionRollBack:
		return l.rollBack(ctx, d, h)
	case selector.ActionLearn:
		return l.learn(ctx, d, h, beat)
	}
	return LearnResult{Action: "nothing"}, nil
}

func (l *Learner) rollBack(ctx context.Context, d crawl.Domain, h Health) (LearnResult, error) {
	back, done, err := l.Store.RollBackSelectors(ctx, d, uuid.Nil, "", true)
	if err != nil || !done {
		return LearnResult{Action: "nothing"}, err
	}
	l.Sites.Invalidate(ctx, d.ID)
	l.count(ctx, "rolled_back")
	l.Log.Warn("selectors were rolled back", "domain", d.Name, "to_version", back.Version, "reason", h.ActionReason)
	return LearnResult{Action: "rolled_back", Version: back.Version, Reason: h.ActionReason}, nil
}

func (l *Learner) learn(ctx context.Context, d crawl.Domain, h Health, beat func()) (LearnResult, error) {
	pages, err := l.load(ctx, d.ID, h.Zone, maxLearnPages)
	if err != nil {
		return LearnResult{}, err
	}
	beat()
	found, problem, err := l.induce(ctx, d, h, pages, beat)
	if err != nil {
		return LearnResult{}, err
	}
	if problem != "" {
		l.count(ctx, "failed")
		l.Log.Info("selectors were not learned", "domain", d.Name, "reason", h.ActionReason, "problem", problem)
		return LearnResult{Action: "given_up", Version: h.Monitor.Version, Reason: problem}, l.Store.RecordLearningFailure(ctx, d, problem)
	}
	made, done, err := l.Store.SaveLearnedSelectors(ctx, d, found)
	if err != nil || !done {
		return LearnResult{Action: "nothing"}, err
	}
	l.Sites.Invalidate(ctx, d.ID)
	if h.Monitor.Version > 0 {
		l.count(ctx, "relearned")
	} else {
		l.count(ctx, "learned")
	}
	l.Log.Info("selectors were learned", "domain", d.Name, "version", made.Version, "reason", h.ActionReason)
	return LearnResult{Action: "learned", Version: made.Version, Reason: h.ActionReason}, nil
}

func (l *Learner) count(ctx context.Context, change string) {
	if l.Meter != nil {
		l.Meter.SelectorsChanged(ctx, change)
	}
}

// induce gives selectors that are better than those in use, or a problem.
func (l *Learner) induce(ctx context.Context, d crawl.Domain, h Health, pages []extract.Page, beat func()) (n Selectors, problem string, err error) {
	cfg, err := selector.Induce(ctx, h.Monitor.Version+1, pages)
	if ctx.Err() != nil {
		return n, "", ctx.Err()
	}
	if err != nil {
		return n, err.Error(), nil //nolint:nilerr // told as what is wrong with the pages
	}
	beat()
	if h.Monitor.Version > 0 {
		site, now, err := l.Sites.Get(ctx, d.ID)
		if err != nil {
			return n, "", err
		}
		if problem, err := l.compare(ctx, site.Version, now, cfg, pages); problem != "" || err != nil {
			return n, problem, err
		}
	}
	n = Selectors{DomainID: d.ID, Config: cfg, CreatedBy: CreatedByLearner, State: Active, Reason: h.ActionReason, Pages: len(pages)}
	if l.Finder != nil {
		if asked, more := l.addLLMPaths(ctx, cfg, pages, beat); more {
			n.Config, n.CreatedBy = asked, CreatedByLLM
		}
	}
	return n, "", ctx.Err()
}

// compare refuses a candidate that finds no more than what is in use.
func (l *Learner) compare(ctx context.Context, version int, now *selector.Selector, cfg selector.Config, pages []extract.Page) (problem string, err error) {
	if now == nil {
		return "", nil
	}
	fresh, err := selector.Compile(cfg)
	if err != nil {
		return err.Error(), nil //nolint:nilerr // told as what is wrong with the candidate
	}
	was, is := countBodies(ctx, now, pages), countBodies(ctx, fresh, pages)
	if is <= was && was < len(pages) {
		return fmt.Sprintf("what was learned finds the body on %d of the last %d pages, version %d on %d", is, len(pages), version, was), nil
	}
	return "", ctx.Err()
}

// countBodies counts pages on which selectors find a body that the generic reading
// agrees with.
func countBodies(ctx context.Context, s *selector.Selector, pages []extract.Page) (n int) {
	for _, p := range pages {
		doc, err := extract.Parse(ctx, p, extract.DefaultLimits())
		if err != nil {
			continue
		}
		a, o, err := s.Article(ctx, doc, p)
		if err == nil && selector.VerifyBody(doc, a, o).Found[article.FieldBody] {
			n++
		}
	}
	return n
}

// load reads the newest pages of a site that gave an article.
func (l *Learner) load(ctx context.Context, domain int32, zone string, n int) ([]extract.Page, error) {
	raws, err := l.Store.RecentArticlePages(ctx, domain, n)
	if err != nil {
		return nil, err
	}
	pages := make([]extract.Page, 0, len(raws))
	for _, r := range raws {
		p, err := loadPage(ctx, l.Pages, r, zone)
		if errors.Is(err, blob.ErrNotFound) {
			continue // swept
		}
		if err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	return pages, nil
}

func loadPage(ctx context.Context, pages Pages, r PageRef, zone string) (extract.Page, error) {
	raw, err := pages.Get(ctx, r.ObjectKey, strings.TrimSuffix(path.Base(r.ObjectKey), ".zst"))
	return extract.Page{HTML: raw, URL: r.URL, Zone: loadZone(zone), Now: r.FetchedAt}, err
}
