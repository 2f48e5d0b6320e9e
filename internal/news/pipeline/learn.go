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
	"dateline/internal/infra/message"
	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
)

// LearnStore stores learned selectors.
type LearnStore interface {
	GetCrawlDomain(ctx context.Context, domain string) (crawl.Domain, error)
	ExtractionHealth(ctx context.Context, domain int) (Health, error)
	RecentArticlePages(ctx context.Context, domain int, limit int) ([]PageRef, error)
	SaveLearnedSelectors(ctx context.Context, domain crawl.Domain, n Selectors) (saved Selectors, done bool, err error)
	RollBackSelectors(ctx context.Context, domain crawl.Domain, workspace uuid.UUID, reason message.Message,
		onlyIfRequested bool) (previous Selectors, done bool, err error)
	RecordLearningFailure(ctx context.Context, domain crawl.Domain, reason string) error
}

// Learner performs the requested action on the selectors of a site.
type Learner struct {
	Store  LearnStore
	Pages  Pages
	Sites  *SiteCache
	Finder FieldFinder // optional
	Meter  Meter
	Log    *slog.Logger
}

// LearnResult is the outcome of Learn.
type LearnResult struct {
	Action  string // learned, rolled_back, failed or none
	Version int    `json:",omitempty"` // active version
	Reason  string `json:",omitempty"`
}

// maxLearnPages is the number of pages to learn from: enough for two templates.
const maxLearnPages = 12

// Learn performs the action that the monitor of a site requested. It is idempotent.
func (l *Learner) Learn(ctx context.Context, domain string, heartbeat func()) (LearnResult, error) {
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
		return l.learn(ctx, d, h, heartbeat)
	}
	return LearnResult{Action: "none"}, nil
}

func (l *Learner) rollBack(ctx context.Context, d crawl.Domain, h Health) (LearnResult, error) {
	back, done, err := l.Store.RollBackSelectors(ctx, d, uuid.Nil, message.Message{}, true)
	if err != nil || !done {
		return LearnResult{Action: "none"}, err
	}
	l.Sites.Invalidate(ctx, d.ID)
	l.count(ctx, "rolled_back")
	l.Log.Warn("selectors rolled back", "domain", d.Name, "to_version", back.Version, "reason", h.ActionReason.Text)
	return LearnResult{Action: "rolled_back", Version: back.Version, Reason: h.ActionReason.Text}, nil
}

func (l *Learner) learn(ctx context.Context, d crawl.Domain, h Health, heartbeat func()) (LearnResult, error) {
	pages, err := l.load(ctx, d.ID, h, maxLearnPages)
	if err != nil {
		return LearnResult{}, err
	}
	heartbeat()
	found, problem, err := l.induce(ctx, d, h, pages, heartbeat)
	if err != nil {
		return LearnResult{}, err
	}
	if problem != "" {
		l.count(ctx, "failed")
		l.Log.Info("could not learn selectors", "domain", d.Name, "reason", h.ActionReason.Text, "error", problem)
		return LearnResult{Action: "failed", Version: h.Monitor.Version, Reason: problem},
			l.Store.RecordLearningFailure(ctx, d, problem)
	}
	saved, done, err := l.Store.SaveLearnedSelectors(ctx, d, found)
	if err != nil || !done {
		return LearnResult{Action: "none"}, err
	}
	l.Sites.Invalidate(ctx, d.ID)
	if h.Monitor.Version > 0 {
		l.count(ctx, "relearned")
	} else {
		l.count(ctx, "learned")
	}
	l.Log.Info("selectors learned", "domain", d.Name, "version", saved.Version, "reason", h.ActionReason.Text)
	return LearnResult{Action: "learned", Version: saved.Version, Reason: h.ActionReason.Text}, nil
}

func (l *Learner) count(ctx context.Context, change string) {
	if l.Meter != nil {
		l.Meter.SelectorsChanged(ctx, change)
	}
}

// induce returns selectors that are better than the active ones, or a problem that
// explains why there are none.
func (l *Learner) induce(
	ctx context.Context, d crawl.Domain, h Health, pages []extract.Page, heartbeat func(),
) (n Selectors, problem string, err error) {
	cfg, err := selector.Induce(ctx, h.Monitor.Version+1, pages)
	if ctx.Err() != nil {
		return n, "", ctx.Err()
	}
	if err != nil {
		return n, err.Error(), nil //nolint:nilerr // returned as the problem
	}
	heartbeat()
	if h.Monitor.Version > 0 {
		site, now, err := l.Sites.Get(ctx, d.ID)
		if err != nil {
			return n, "", err
		}
		if problem, err := l.compare(ctx, site.Version, now, cfg, pages); problem != "" || err != nil {
			return n, problem, err
		}
	}
	n = Selectors{
		DomainID: d.ID, Config: cfg, CreatedBy: CreatedByLearner, State: Active, Reason: h.ActionReason,
		Pages: len(pages),
	}
	if l.Finder != nil {
		if extended, changed := l.addLLMPaths(ctx, cfg, pages, heartbeat); changed {
			n.Config, n.CreatedBy = extended, CreatedByLLM
		}
	}
	return n, "", ctx.Err()
}

// compare rejects a candidate that finds no more bodies than the active version.
func (l *Learner) compare(
	ctx context.Context, version int, now *selector.Selector, cfg selector.Config, pages []extract.Page,
) (problem string, err error) {
	if now == nil {
		return "", nil
	}
	fresh, err := selector.Compile(cfg)
	if err != nil {
		return err.Error(), nil //nolint:nilerr // returned as the problem
	}
	before, after := countBodies(ctx, now, pages), countBodies(ctx, fresh, pages)
	if after <= before && before < len(pages) {
		return fmt.Sprintf("the learned selectors find the body on %d of the last %d pages, version %d on %d", after,
			len(pages), version, before), nil
	}
	return "", ctx.Err()
}

// countBodies counts the pages on which selectors find a body that generic extraction
// confirms.
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

// load loads the newest pages of a site that contain an article.
func (l *Learner) load(ctx context.Context, domain int, h Health, n int) ([]extract.Page, error) {
	refs, err := l.Store.RecentArticlePages(ctx, domain, n)
	if err != nil {
		return nil, err
	}
	pages := make([]extract.Page, 0, len(refs))
	for _, r := range refs {
		p, err := loadPage(ctx, l.Pages, r, h)
		if errors.Is(err, blob.ErrNotFound) {
			continue // deleted by retention
		}
		if err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	return pages, nil
}

// loadPage loads a page with the extraction settings of its site.
func loadPage(ctx context.Context, pages Pages, r PageRef, h Health) (extract.Page, error) {
	raw, err := pages.Get(ctx, r.ObjectKey, strings.TrimSuffix(path.Base(r.ObjectKey), ".zst"))
	return extract.Page{
		HTML: raw, URL: r.URL, Zone: loadZone(h.Zone), Now: r.FetchedAt, Marks: h.ExtractionMarks(),
	}, err
}
