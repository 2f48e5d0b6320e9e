package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/storage/postgres/db"
)

// LeaseCrawledPages takes stored pages that wait to be parsed. What is not declared
// done within ttl is handed out again.
func (s *Store) LeaseCrawledPages(ctx context.Context, limit int, ttl time.Duration) ([]crawl.CrawledPage, error) {
	rows, err := s.q.TakeCrawled(ctx, db.TakeCrawledParams{Seconds: ttl.Seconds(), Batch: int32(limit)}) //nolint:gosec // hundreds
	out := make([]crawl.CrawledPage, len(rows))
	for i, r := range rows {
		out[i] = crawl.CrawledPage{ID: r.ID, DomainID: r.DomainID, URLID: r.UrlID, URL: r.Url, ObjectKey: r.ObjectKey,
			FetchedAt: r.FetchedAt, FoundAt: r.FoundAt, IsFirstVersion: r.First, Removed: r.Gone, MovedTo: idOrNil(r.MovedTo), Attempts: int(r.Tries)}
	}
	return out, err
}

// DeleteCrawledPages says that pages have been parsed.
func (s *Store) DeleteCrawledPages(ctx context.Context, ids []int64) error {
	return s.q.CrawledDone(ctx, ids)
}

// ListVersions lists a domain's versions of a range of time, behind after,
// in the order of time.
func (s *Store) ListVersions(ctx context.Context, domain int32, from, to time.Time, after crawl.PageVersion, limit int) ([]crawl.PageVersion, error) {
	rows, err := s.q.VersionsBetween(ctx, db.VersionsBetweenParams{DomainID: domain, FromTime: from, ToTime: to,
		AfterTime: after.FetchedAt, AfterID: after.URLID, Batch: int32(limit)}) //nolint:gosec // hundreds
	if err != nil {
		return nil, err
	}
	out := make([]crawl.PageVersion, len(rows))
	for i, r := range rows {
		out[i] = crawl.PageVersion{DomainID: r.DomainID, URLID: r.UrlID, URL: r.FinalUrl, FetchedAt: r.FetchedAt, Status: int(r.Status), Bytes: int(r.Bytes),
			StoredBytes: int(r.StoredBytes), Kind: crawl.Kind(r.Kind), RawHash: r.RawHash, FinalURL: r.FinalUrl}
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
func (s *Store) ListCrawlDomainIDs(ctx context.Context, after int32, limit int) ([]int32, error) {
	return s.q.CrawlDomainIDs(ctx, db.CrawlDomainIDsParams{After: after, Batch: int32(limit)}) //nolint:gosec // hundreds
}

// DeleteOldVersions drops versions of a domain beyond the newest keep of a URL, and
// those older than age but the newest, with their objects. It leaves URLs alone
// that are being fetched: only so is it sure that nobody stores the same
// content at the same moment.
func (s *Store) DeleteOldVersions(ctx context.Context, domain int32, keep int, age time.Duration, limit int, drop func(ctx context.Context, key string) error) (found, dropped int, err error) {
	rows, err := s.q.SurplusVersions(ctx, db.SurplusVersionsParams{DomainID: domain, Keep: int32(keep), Seconds: age.Seconds(), Batch: int32(limit)}) //nolint:gosec // small
	if err != nil {
		return 0, 0, err
	}
	for _, v := range rows {
		err := s.inTx(ctx, func(q *db.Queries) error {
			_, err := q.LockIdleURL(ctx, db.LockIdleURLParams{DomainID: v.DomainID, ID: v.UrlID})
			if noRows(err) {
				there, err := q.FrontierHas(ctx, db.FrontierHasParams{DomainID: v.DomainID, ID: v.UrlID})
				if err != nil || there {
					return err
				}
			} else if err != nil {
				return err
			}
			if err := q.DropVersion(ctx, db.DropVersionParams{DomainID: v.DomainID, UrlID: v.UrlID, FetchedAt: v.FetchedAt}); err != nil {
				return err
			}
			needed, err := q.VersionNeeded(ctx, db.VersionNeededParams{DomainID: v.DomainID, UrlID: v.UrlID, RawHash: v.RawHash})
			if err != nil {
				return err
			}
			if !needed {
				if err := drop(ctx, crawl.ObjectKey(v.Domain, v.UrlID, v.RawHash)); err != nil {
					return err
				}
			}
			dropped++
			return nil
		})
		if err != nil {
			return len(rows), dropped, err
		}
	}
	return len(rows), dropped, nil
}

// GetURL reads what the frontier knows of a URL.
func (s *Store) GetURL(ctx context.Context, domain int32, id uuid.UUID) (u crawl.URL, known bool, err error) {
	row, err := s.q.GetURL(ctx, db.GetURLParams{DomainID: domain, ID: id})
	if noRows(err) {
		return u, false, nil
	}
	return urlFromRow(row), err == nil, err
}
