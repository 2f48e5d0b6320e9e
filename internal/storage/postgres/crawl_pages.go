package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/storage/postgres/db"
)

// TakeCrawled takes stored pages that wait to be parsed. What is not declared
// done within ttl is handed out again.
func (s *Store) TakeCrawled(ctx context.Context, limit int, ttl time.Duration) ([]crawl.Crawled, error) {
	rows, err := s.q.TakeCrawled(ctx, db.TakeCrawledParams{Seconds: ttl.Seconds(), Batch: int32(limit)}) //nolint:gosec // hundreds
	out := make([]crawl.Crawled, len(rows))
	for i, r := range rows {
		out[i] = crawl.Crawled{ID: r.ID, DomainID: r.DomainID, URLID: r.UrlID, URL: r.Url, ObjectKey: r.ObjectKey,
			FetchedAt: r.FetchedAt, FoundAt: r.FoundAt, First: r.First, Gone: r.Gone, MovedTo: idOrNil(r.MovedTo), Tries: int(r.Tries)}
	}
	return out, err
}

// CrawledDone says that pages have been parsed.
func (s *Store) CrawledDone(ctx context.Context, ids []int64) error {
	return s.q.CrawledDone(ctx, ids)
}

// VersionsBetween lists a domain's versions of a range of time, behind after,
// in the order of time.
func (s *Store) VersionsBetween(ctx context.Context, domain int32, from, to time.Time, after crawl.Version, limit int) ([]crawl.Version, error) {
	rows, err := s.q.VersionsBetween(ctx, db.VersionsBetweenParams{DomainID: domain, FromTime: from, ToTime: to,
		AfterTime: after.FetchedAt, AfterID: after.URLID, Batch: int32(limit)}) //nolint:gosec // hundreds
	if err != nil {
		return nil, err
	}
	out := make([]crawl.Version, len(rows))
	for i, r := range rows {
		out[i] = crawl.Version{DomainID: r.DomainID, URLID: r.UrlID, URL: r.FinalUrl, FetchedAt: r.FetchedAt, Status: int(r.Status), Bytes: int(r.Bytes),
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

// CrawlDomainIDs lists all domains.
func (s *Store) CrawlDomainIDs(ctx context.Context, after int32, limit int) ([]int32, error) {
	return s.q.CrawlDomainIDs(ctx, db.CrawlDomainIDsParams{After: after, Batch: int32(limit)}) //nolint:gosec // hundreds
}

// SweepVersions drops versions of a domain beyond the newest keep of a URL, and
// those older than age but the newest, with their objects. It leaves URLs alone
// that are being fetched: only so is it sure that nobody stores the same
// content at the same moment.
func (s *Store) SweepVersions(ctx context.Context, domain int32, keep int, age time.Duration, limit int, drop func(ctx context.Context, key string) error) (found, dropped int, err error) {
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
				if err := drop(ctx, crawl.Key(v.Domain, v.UrlID, v.RawHash)); err != nil {
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

// PageState reads what the frontier knows of a URL.
func (s *Store) PageState(ctx context.Context, domain int32, id uuid.UUID) (u crawl.URL, known bool, err error) {
	row, err := s.q.GetURL(ctx, db.GetURLParams{DomainID: domain, ID: id})
	if noRows(err) {
		return u, false, nil
	}
	return urlFromRow(row), err == nil, err
}
