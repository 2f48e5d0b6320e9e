package news

import (
	"context"
	"encoding/json"
	"net/textproto"
	"strings"
	"time"

	"dateline/internal/infra/optional"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/change"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/news/pipeline"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/news/db"
)

// RenewCrawled renews the leases of pages.
func (s *ArticleStore) RenewCrawled(ctx context.Context, ids []int64, ttl time.Duration) error {
	return s.q.RenewPageLeases(ctx, db.RenewPageLeasesParams{Ids: ids, Seconds: ttl.Seconds()})
}

// ReleaseCrawled releases the lease of a page, which becomes available after a delay.
func (s *ArticleStore) ReleaseCrawled(ctx context.Context, c crawl.CrawledPage, wait time.Duration) error {
	return s.q.ReleaseCrawledPage(ctx, db.ReleaseCrawledPageParams{
		ID: c.ID, Attempts: c.Attempts, Seconds: wait.Seconds(),
	})
}

// CountWaitingPages counts pages that are not extracted yet, up to limit.
func (s *ArticleStore) CountWaitingPages(ctx context.Context, limit int) (int, error) {
	n, err := s.q.CountWaitingPages(ctx, limit)
	return int(n), err
}

// PageOf returns the response metadata of a page. Its version may be deleted by
// retention.
func (s *ArticleStore) PageOf(
	ctx context.Context, c crawl.CrawledPage,
) (p pipeline.Page, rules weburl.Rules, err error) {
	row, err := s.q.GetPageHeader(ctx, db.GetPageHeaderParams{
		DomainID: c.DomainID, UrlID: c.URLID, FetchedAt: c.FetchedAt,
	})
	if err != nil {
		return p, rules, err
	}
	p = pipeline.Page{CrawledPage: c, Domain: row.Domain, FinalURL: row.FinalUrl}
	if p.FinalURL == "" {
		p.FinalURL = c.URL
	}
	var header textproto.MIMEHeader
	if err := json.Unmarshal(row.Header, &header); err != nil {
		return p, rules, err
	}
	p.Header, p.ContentType = header, header.Get("Content-Type")
	if json.Unmarshal(row.Rules, &rules) != nil {
		rules = weburl.Rules{}
	}
	return p, rules, nil
}

// SaveExtraction stores the result of a page, removes the page from the queue and
// updates the monitor of its site in one transaction. If the lease was lost, it changes
// nothing.
func (s *ArticleStore) SaveExtraction(ctx context.Context, r pipeline.Extraction) (k pipeline.SaveResult, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		k = pipeline.SaveResult{}
		if r.Article != nil && r.SimHash != 0 {
			if err := q.LockSimilar(ctx, simHashLocks(r.SimHash)); err != nil {
				return err
			}
		}
		row, err := q.LockSiteMonitor(ctx, r.Page.DomainID)
		if err != nil {
			return err
		}
		done, err := q.DeleteCrawledPage(ctx, db.DeleteCrawledPageParams{
			ID: r.Page.ID, Attempts: r.Page.Attempts,
		})
		if err != nil {
			return err
		}
		if k.LeaseLost = done == 0; k.LeaseLost {
			return nil
		}
		if err := q.AddPageCounts(ctx, pageCounts(r)); err != nil {
			return err
		}
		if r.Article == nil {
			return putPageWithoutArticle(ctx, q, r)
		}
		if err := q.DeletePageWithoutArticle(ctx, db.DeletePageWithoutArticleParams{
			DomainID: r.Page.DomainID,
			UrlID:    r.Page.URLID,
		}); err != nil {
			return err
		}
		if err := updateMonitor(ctx, q, row, r, &k); err != nil {
			return err
		}
		return saveArticle(ctx, q, r, &k)
	})
	return k, err
}

func putPageWithoutArticle(ctx context.Context, q *queries, r pipeline.Extraction) error {
	return q.PutPageWithoutArticle(ctx, db.PutPageWithoutArticleParams{
		DomainID: r.Page.DomainID, UrlID: r.Page.URLID,
		Url: r.Page.URL, FetchedAt: r.Page.FetchedAt,
		Reason: string(r.Reason), Detail: truncateError(r.Detail),
	})
}

// MarkPageRemoved marks the articles of a removed page, which removes them from the
// search index. If an older version of the page is still queued, it is deferred.
func (s *ArticleStore) MarkPageRemoved(ctx context.Context, c crawl.CrawledPage) (k pipeline.RemovalResult, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		k = pipeline.RemovalResult{}
		if _, err := q.LockSiteMonitor(ctx, c.DomainID); err != nil {
			return err
		}
		if k.Deferred, err = q.HasOlderCrawledPage(ctx,
			db.HasOlderCrawledPageParams{DomainID: c.DomainID, UrlID: c.URLID, ID: c.ID}); err != nil || k.Deferred {
			return err
		}
		done, err := q.DeleteCrawledPage(ctx, db.DeleteCrawledPageParams{ID: c.ID, Attempts: c.Attempts})
		if k.LeaseLost = done == 0; err != nil || k.LeaseLost {
			return err
		}
		ids, err := q.MarkArticlesRemoved(ctx, db.MarkArticlesRemovedParams{
			DomainID: c.DomainID, PageID: c.URLID, RemovedAt: c.FetchedAt, MovedTo: optional.Of(c.MovedTo),
		})
		for _, id := range ids {
			if err := q.InsertArticleChange(ctx,
				db.InsertArticleChangeParams{ArticleID: id, Kind: db.ChangeKindUpsert}); err != nil {
				return err
			}
		}
		k.Articles = len(ids)
		return err
	})
	return k, err
}

// simHashLocks returns the advisory locks of a SimHash, see LockSimilar.
func simHashLocks(simhash int64) []int {
	out := make([]int, 0, 4)
	for i, b := range change.SimHash(simhash).Blocks() { //nolint:gosec // only the bits matter
		out = append(out, i<<16|int(b))
	}
	return out
}

func pageCounts(r pipeline.Extraction) db.AddPageCountsParams {
	p := db.AddPageCountsParams{DomainID: r.Page.DomainID}
	switch {
	case r.Failed:
		p.Failed, p.Error, p.Reason = 1, truncateError(string(r.Reason)+": "+r.Detail), string(r.Reason)
	case r.Article == nil:
		p.NonArticles, p.Reason = 1, string(r.Reason)
	default:
		p.Articles = 1
	}
	return p
}

// truncateError limits a stored error message.
func truncateError(s string) string {
	const maxBytes = 500
	if len(s) > maxBytes {
		s = s[:maxBytes]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")
}

// updateMonitor records the result of the selectors and requests an action if needed.
// Results of older selectors are ignored.
func updateMonitor(
	ctx context.Context, q *queries, row db.SiteMonitor, r pipeline.Extraction, k *pipeline.SaveResult,
) error {
	var m selector.Monitor
	if err := json.Unmarshal(row.Monitor, &m); err != nil {
		return err
	}
	if r.SelectorVersion == m.Version {
		m = m.Record(r.Outcome)
		raw, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if err := q.SaveSiteMonitor(ctx, db.SaveSiteMonitorParams{DomainID: row.DomainID, Monitor: raw}); err != nil {
			return err
		}
	}
	k.Version, k.Pages = m.Version, m.Pages
	d := m.Decide()
	if d.Action == selector.ActionNone || row.RequestedAction != db.SelectorActionNone ||
		d.Action == selector.ActionLearn && !row.LearningEnabled {
		return nil
	}
	k.ActionRequested = true
	return q.RequestSelectorAction(ctx, db.RequestSelectorActionParams{
		DomainID: row.DomainID, Action: db.SelectorAction(d.Action), Field: string(d.Field),
		Reason: column.Message(d.Reason),
	})
}
