package news

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/storage/postgres/news/db"
)

// AddURLs adds discovered URLs to the frontier and returns which are new. It
// runs before the page that links them is recorded: after a crash in between,
// the page is fetched again and nothing is lost.
func (s *FrontierStore) AddURLs(ctx context.Context, found []crawl.DiscoveredURL) (map[uuid.UUID]bool, error) {
	added := map[uuid.UUID]bool{}
	if len(found) == 0 {
		return added, nil
	}
	// A fixed order rules out deadlocks with others who add the same URLs.
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b crawl.DiscoveredURL) int {
		x, y := a.URL.Hash(), b.URL.Hash()
		return cmp.Or(cmp.Compare(a.DomainID, b.DomainID), slices.Compare(x[:], y[:]))
	})
	var p db.AddURLsParams
	for _, f := range found {
		p.DomainIds, p.Ids, p.Urls = append(p.DomainIds, f.DomainID), append(p.Ids, crawl.URLID(f.URL)), append(p.Urls,
			f.URL.String())
		p.Kinds, p.SeedNumbers = append(p.Kinds, string(f.Kind)), append(p.SeedNumbers, f.SeedNumber)
		p.Ranks, p.Depths = append(p.Ranks, f.Rank), append(p.Depths, f.Depth)
		p.Intervals = append(p.Intervals, seconds(f.Interval))
	}
	rows, err := s.q.AddURLs(ctx, p)
	for _, r := range rows {
		added[r.ID] = true
	}
	return added, err
}

// RefreshURLs makes stored articles of a domain due that were updated since they were last
// fetched, and returns their number.
func (s *FrontierStore) RefreshURLs(
	ctx context.Context, domain int, updated []crawl.UpdatedURL,
) (refreshed int, err error) {
	if len(updated) == 0 {
		return 0, nil
	}
	p := db.RefreshURLsParams{DomainID: domain}
	for _, u := range updated {
		p.Ids, p.Updated = append(p.Ids, u.ID), append(p.Updated, u.At)
	}
	n, err := s.q.RefreshURLs(ctx, p)
	return int(n), err
}

// RecordFetches records fetches in one transaction: the URLs, the new versions,
// and the pages that are to be extracted. recorded reports, for each, whether
// its lease was still valid; otherwise another holder fetches the URL, and the
// record is dropped.
func (s *FrontierStore) RecordFetches(ctx context.Context, fetches []crawl.FetchRecord) (recorded []bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		recorded = make([]bool, len(fetches))
		counts := countFetches(fetches)
		if err := q.LockDomains(ctx, counts.Ids); err != nil {
			return err
		}
		rows, err := q.RecordURLs(ctx, finishParams(fetches))
		if err != nil {
			return err
		}
		type leasedURL struct {
			crawl.URLKey
			lease uuid.UUID
		}
		done := make(map[leasedURL]db.RecordURLsRow, len(rows))
		for _, r := range rows {
			done[leasedURL{crawl.URLKey{DomainID: r.DomainID, ID: r.ID}, r.Lease}] = r
		}
		var versions db.AddVersionsParams
		var crawled db.AddCrawledPagesParams
		for i, f := range fetches {
			row, ok := done[leasedURL{crawl.URLKey{DomainID: f.URL.DomainID, ID: f.URL.ID}, f.URL.Lease}]
			recorded[i] = ok
			if !ok {
				continue
			}
			if f.Version != nil {
				if err := appendVersion(&versions, f.Version); err != nil {
					return err
				}
			}
			appendCrawledPage(&crawled, f, row)
		}
		if len(versions.UrlIds) > 0 {
			if err := q.AddVersions(ctx, versions); err != nil {
				return err
			}
		}
		if len(crawled.UrlIds) > 0 {
			if err := q.AddCrawledPages(ctx, crawled); err != nil {
				return err
			}
		}
		return q.CountFetches(ctx, counts)
	})
	return recorded, err
}

// appendCrawledPage queues an article for extraction if it has a new version or
// was removed.
func appendCrawledPage(p *db.AddCrawledPagesParams, f crawl.FetchRecord, row db.RecordURLsRow) {
	at := f.RemovedAt
	if f.Version != nil {
		at = f.Version.FetchedAt
	}
	if f.URL.Kind != crawl.Article || at.IsZero() {
		return
	}
	p.DomainIds, p.UrlIds = append(p.DomainIds, row.DomainID), append(p.UrlIds, row.ID)
	p.Fetched, p.Urls = append(p.Fetched, at), append(p.Urls, f.URL.URL)
	p.Keys, p.Found, p.First = append(p.Keys, f.ObjectKey), append(p.Found, row.FoundAt), append(p.First,
		f.IsFirstVersion)
	p.Removed, p.MovedTo = append(p.Removed, f.Version == nil), append(p.MovedTo, f.MovedTo)
}

func finishParams(fetches []crawl.FetchRecord) (p db.RecordURLsParams) {
	for _, f := range fetches {
		u := f.URL
		p.DomainIds, p.Ids, p.Leases = append(p.DomainIds, u.DomainID), append(p.Ids, u.ID), append(p.Leases, u.Lease)
		p.Unscheduled, p.DueIn = append(p.Unscheduled, f.Unscheduled), append(p.DueIn, f.DueIn.Seconds())
		p.States, p.Changed = append(p.States, string(u.State)), append(p.Changed, f.Changed)
		p.Attempts, p.Statuses, p.Ranks = append(p.Attempts, u.Attempts), append(p.Statuses,
			u.LastStatus), append(p.Ranks, u.Rank)
		p.Intervals = append(p.Intervals, seconds(u.Interval))
		p.Etags, p.Modified = append(p.Etags, u.ETag), append(p.Modified, u.LastModified)
		p.Content, p.Simhashes, p.Raw = append(p.Content, u.ContentHash), append(p.Simhashes, u.SimHash), append(p.Raw,
			u.RawHash)
		p.Canonicals, p.Errors = append(p.Canonicals, u.Canonical), append(p.Errors, f.Error)
	}
	return p
}

func appendVersion(p *db.AddVersionsParams, v *crawl.PageVersion) error {
	header, err := json.Marshal(v.Header)
	if err != nil {
		return err
	}
	p.DomainIds, p.UrlIds, p.Fetched = append(p.DomainIds, v.DomainID), append(p.UrlIds, v.URLID), append(p.Fetched,
		v.FetchedAt)
	p.Statuses, p.Bytes, p.StoredBytes = append(p.Statuses, v.Status), append(p.Bytes,
		v.Bytes), append(p.StoredBytes, v.StoredBytes)
	p.Kinds, p.Raw, p.FinalUrls = append(p.Kinds, string(v.Kind)), append(p.Raw, v.RawHash), append(p.FinalUrls,
		v.FinalURL)
	p.Headers = append(p.Headers, string(header))
	return nil
}

// countFetches sums up the counters of each domain.
func countFetches(fetches []crawl.FetchRecord) (p db.CountFetchesParams) {
	at := map[int]int{}
	for _, f := range fetches {
		i, ok := at[f.URL.DomainID]
		if !ok {
			i = len(p.Ids)
			at[f.URL.DomainID] = i
			p.Ids = append(p.Ids, f.URL.DomainID)
			p.Fetches, p.Stores, p.Unchanges = append(p.Fetches, 0), append(p.Stores, 0), append(p.Unchanges, 0)
			p.Fails, p.TimeoutCounts, p.Exclusions = append(p.Fails, 0), append(p.TimeoutCounts,
				0), append(p.Exclusions, 0)
			p.ByteCounts, p.Response, p.Hubs, p.News, p.DueIn = append(p.ByteCounts, 0), append(p.Response,
				0), append(p.Hubs, 0), append(p.News, 0), append(p.DueIn, -1)
		}
		p.Fetches[i] += f.Requests
		p.ByteCounts[i] += f.Bytes
		if f.ResponseTime > 0 {
			p.Response[i] = float64(f.ResponseTime.Microseconds()) / 1000
		}
		switch {
		case f.TimedOut:
			p.TimeoutCounts[i]++
			p.Fails[i]++
		case f.Failed:
			p.Fails[i]++
		case f.URL.State == crawl.Excluded:
			p.Exclusions[i]++
		case f.Version != nil:
			p.Stores[i]++
		case f.URL.State == crawl.Stored:
			p.Unchanges[i]++
		}
		if f.URL.Kind.Hub() && !f.Failed {
			p.Hubs[i] = 1
			if f.Changed {
				p.News[i] = 1
			}
		}
		if !f.Unscheduled && (p.DueIn[i] < 0 || f.DueIn.Seconds() < p.DueIn[i]) {
			p.DueIn[i] = f.DueIn.Seconds()
		}
	}
	return p
}
