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
	ReadingHealth(ctx context.Context, domain int32) (Health, error)
	PagesToLearn(ctx context.Context, domain int32, limit int) ([]Raw, error)
	LearnedSelectors(ctx context.Context, domain crawl.Domain, n Selectors) (made Selectors, done bool, err error)
	RollBackSelectors(ctx context.Context, domain crawl.Domain, workspace uuid.UUID, why string, wished bool) (back Selectors, done bool, err error)
	GiveUpLearning(ctx context.Context, domain crawl.Domain, why string) error
}

// Learner does about the selectors of a site what is to be done.
type Learner struct {
	Store  LearnStore
	Pages  Pages
	Sites  *Sites
	Finder FieldFinder // nil: there is none
	Meter  Meter
	Log    *slog.Logger
}

// Learnt says what was done.
type Learnt struct {
	Action  string // learned, rolled_back, given_up or nothing
	Version int    `json:",omitempty"` // in use now
	Why     string `json:",omitempty"`
}

// learnPages is how many pages are learned from: enough for two templates.
const learnPages = 12

// Learn does what the monitor of a site asks for. It may be run again at any
// time: what was done already is not done twice.
func (l *Learner) Learn(ctx context.Context, domain string, beat func()) (Learnt, error) {
	d, err := l.Store.GetCrawlDomain(ctx, domain)
	if err != nil {
		return Learnt{}, err
	}
	h, err := l.Store.ReadingHealth(ctx, d.ID)
	if err != nil {
		return Learnt{}, err
	}
	switch h.Wish {
	case selector.RollBack:
		return l.rollBack(ctx, d, h)
	case selector.Learn:
		return l.learn(ctx, d, h, beat)
	}
	return Learnt{Action: "nothing"}, nil
}

func (l *Learner) rollBack(ctx context.Context, d crawl.Domain, h Health) (Learnt, error) {
	back, done, err := l.Store.RollBackSelectors(ctx, d, uuid.Nil, "", true)
	if err != nil || !done {
		return Learnt{Action: "nothing"}, err
	}
	l.Sites.Forget(ctx, d.ID)
	l.count(ctx, "rolled_back")
	l.Log.Warn("selectors were rolled back", "domain", d.Name, "to_version", back.Version, "reason", h.WishWhy)
	return Learnt{Action: "rolled_back", Version: back.Version, Why: h.WishWhy}, nil
}

func (l *Learner) learn(ctx context.Context, d crawl.Domain, h Health, beat func()) (Learnt, error) {
	pages, err := l.load(ctx, d.ID, h.Zone, learnPages)
	if err != nil {
		return Learnt{}, err
	}
	beat()
	found, problem, err := l.induce(ctx, d, h, pages, beat)
	if err != nil {
		return Learnt{}, err
	}
	if problem != "" {
		l.count(ctx, "failed")
		l.Log.Info("selectors were not learned", "domain", d.Name, "reason", h.WishWhy, "problem", problem)
		return Learnt{Action: "given_up", Version: h.Monitor.Version, Why: problem}, l.Store.GiveUpLearning(ctx, d, problem)
	}
	made, done, err := l.Store.LearnedSelectors(ctx, d, found)
	if err != nil || !done {
		return Learnt{Action: "nothing"}, err
	}
	l.Sites.Forget(ctx, d.ID)
	if h.Monitor.Version > 0 {
		l.count(ctx, "relearned")
	} else {
		l.count(ctx, "learned")
	}
	l.Log.Info("selectors were learned", "domain", d.Name, "version", made.Version, "reason", h.WishWhy)
	return Learnt{Action: "learned", Version: made.Version, Why: h.WishWhy}, nil
}

func (l *Learner) count(ctx context.Context, change string) {
	if l.Meter != nil {
		l.Meter.Selectors(ctx, change)
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
	n = Selectors{DomainID: d.ID, Config: cfg, Maker: Learned, State: Active, Reason: h.WishWhy, Pages: len(pages)}
	if l.Finder != nil {
		if asked, more := l.ask(ctx, cfg, pages, beat); more {
			n.Config, n.Maker = asked, Model
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
	was, is := hits(ctx, now, pages), hits(ctx, fresh, pages)
	if is <= was && was < len(pages) {
		return fmt.Sprintf("what was learned finds the body on %d of the last %d pages, version %d on %d", is, len(pages), version, was), nil
	}
	return "", ctx.Err()
}

// hits counts pages on which selectors find a body that the generic reading
// agrees with.
func hits(ctx context.Context, s *selector.Selector, pages []extract.Page) (n int) {
	for _, p := range pages {
		doc, err := extract.Parse(ctx, p, extract.DefaultLimits())
		if err != nil {
			continue
		}
		a, o, err := s.Article(ctx, doc, p)
		if err == nil && selector.Check(doc, a, o).Found[article.FieldBody] {
			n++
		}
	}
	return n
}

// load reads the newest pages of a site that gave an article.
func (l *Learner) load(ctx context.Context, domain int32, zone string, n int) ([]extract.Page, error) {
	raws, err := l.Store.PagesToLearn(ctx, domain, n)
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

func loadPage(ctx context.Context, pages Pages, r Raw, zone string) (extract.Page, error) {
	raw, err := pages.Get(ctx, r.ObjectKey, strings.TrimSuffix(path.Base(r.ObjectKey), ".zst"))
	return extract.Page{HTML: raw, URL: r.URL, Zone: zoneOf(zone), Now: r.FetchedAt}, err
}
