package news

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/optional"
	"dateline/internal/news/crawl"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// LeaseCrawledPages leases stored pages for extraction. Pages that are not
// deleted within ttl are leased again.
func (s *DomainStore) LeaseCrawledPages(
	ctx context.Context, limit int, ttl time.Duration,
) ([]crawl.CrawledPage, error) {
	rows, err := s.q.LeaseCrawledPages(ctx, db.LeaseCrawledPagesParams{Seconds: ttl.Seconds(), Batch: limit})
	out := make([]crawl.CrawledPage, len(rows))
	for i, r := range rows {
		out[i] = crawl.CrawledPage{
			ID: r.ID, DomainID: r.DomainID, URLID: r.UrlID, URL: r.Url, ObjectKey: r.ObjectKey,
			FetchedAt: r.FetchedAt, FoundAt: r.FoundAt, IsFirstVersion: r.IsFirstVersion, Removed: r.Removed,
			MovedTo: optional.Value(r.MovedTo), Attempts: r.Attempts,
		}
	}
	return out, err
}

// DeleteCrawledPages removes extracted pages from the queue.
func (s *DomainStore) DeleteCrawledPages(ctx context.Context, ids []int64) error {
	return s.q.DeleteCrawledPages(ctx, ids)
}

// ListVersions lists a domain's page versions within a time range, in order,
// starting after the given one.
func (s *DomainStore) ListVersions(
	ctx context.Context, domain int, from, to time.Time, after crawl.PageVersion, limit int,
) ([]crawl.PageVersion, error) {
	rows, err := s.q.ListVersions(ctx, db.ListVersionsParams{
		DomainID: domain, FromTime: from, ToTime: to,
		AfterTime: after.FetchedAt, AfterID: after.URLID, Batch: limit,
	})
	if err != nil {
		return nil, err
	}
	out := make([]crawl.PageVersion, len(rows))
	for i, r := range rows {
		out[i] = crawl.PageVersion{
			DomainID: r.DomainID, URLID: r.UrlID, URL: r.FinalUrl, FetchedAt: r.FetchedAt,
			Status: r.Status, Bytes: r.Bytes,
			StoredBytes: r.StoredBytes, Kind: crawl.Kind(r.Kind), RawHash: r.RawHash, FinalURL: r.FinalUrl,
		}
		if r.Url != nil {
			out[i].URL = *r.Url
		}
		if err := json.Unmarshal(r.Header, &out[i].Header); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ListCrawlDomainIDs lists all domains.
func (s *DomainStore) ListCrawlDomainIDs(ctx context.Context, after int, limit int) ([]int, error) {
	return s.q.ListCrawlDomainIDs(ctx, db.ListCrawlDomainIDsParams{After: after, Batch: limit})
}

// DeleteOldVersions deletes versions of a domain beyond the newest maxVersions
// of a URL, and those older than maxAge except for the newest, with their
// objects. It skips leased URLs, because their fetch may be storing the same
// content.
func (s *DomainStore) DeleteOldVersions(ctx context.Context, domain int, maxVersions int, maxAge time.Duration,
	limit int,
	deleteObject func(ctx context.Context, key string) error,
) (found, deleted int, err error) {
	rows, err := s.q.ListOldVersions(ctx, db.ListOldVersionsParams{
		DomainID: domain, MaxVersions: maxVersions, Seconds: maxAge.Seconds(), Batch: limit,
	})
	if err != nil {
		return 0, 0, err
	}
	for _, v := range rows {
		err := s.inTx(ctx, func(q *queries) error {
			_, err := q.LockUnleasedURL(ctx, db.LockUnleasedURLParams{DomainID: v.DomainID, ID: v.UrlID})
			if tx.NoRows(err) {
				exists, err := q.URLExists(ctx, db.URLExistsParams{DomainID: v.DomainID, ID: v.UrlID})
				if err != nil || exists {
					return err
				}
			} else if err != nil {
				return err
			}
			if err := q.DeleteVersion(ctx, db.DeleteVersionParams{
				DomainID: v.DomainID, UrlID: v.UrlID,
				FetchedAt: v.FetchedAt,
			}); err != nil {
				return err
			}
			inUse, err := q.VersionObjectInUse(ctx, db.VersionObjectInUseParams{
				DomainID: v.DomainID, UrlID: v.UrlID, RawHash: v.RawHash,
			})
			if err != nil {
				return err
			}
			if !inUse {
				if err := deleteObject(ctx, crawl.ObjectKey(v.Domain, v.UrlID, v.RawHash)); err != nil {
					return err
				}
			}
			deleted++
			return nil
		})
		if err != nil {
			return len(rows), deleted, err
		}
	}
	return len(rows), deleted, nil
}

// GetURL returns a URL of the frontier.
func (s *DomainStore) GetURL(ctx context.Context, domain int, id uuid.UUID) (u crawl.URL, known bool, err error) {
	row, err := s.q.GetURL(ctx, db.GetURLParams{DomainID: domain, ID: id})
	if tx.NoRows(err) {
		return u, false, nil
	}
	return urlFromRow(row), err == nil, err
}
