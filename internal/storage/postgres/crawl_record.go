package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/storage/postgres/db"
)

// AddURLs puts what was found into the frontier and says which of it is new. It
// comes before the page that names them is recorded: a worker that dies between
// the two has the page fetched again, and loses nothing.
func (s *Store) AddURLs(ctx context.Context, found []crawl.Found) (map[uuid.UUID]bool, error) {
	fresh := map[uuid.UUID]bool{}
	if len(found) == 0 {
		return fresh, nil
	}
	// In one order, so that two who add the same do not lock each other out.
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b crawl.Found) int {
		x, y := a.URL.Hash(), b.URL.Hash()
		return cmp.Or(cmp.Compare(a.DomainID, b.DomainID), slices.Compare(x[:], y[:]))
	})
	var p db.AddURLsParams
	for _, f := range found {
		p.DomainIds, p.Ids, p.Urls = append(p.DomainIds, f.DomainID), append(p.Ids, crawl.ID(f.URL)), append(p.Urls, f.URL.String())
		p.Kinds, p.SeedNos = append(p.Kinds, string(f.Kind)), append(p.SeedNos, f.SeedNo)
		p.Ranks, p.Depths = append(p.Ranks, int16(f.Rank)), append(p.Depths, int16(f.Depth)) //nolint:gosec // 0 to 15, and a few
		p.Every = append(p.Every, seconds(f.Every))
	}
	rows, err := s.q.AddURLs(ctx, p)
	for _, r := range rows {
		fresh[r.ID] = true
	}
	return fresh, err
}

// RecordFetches writes what became of leased URLs, all of it or nothing: the
// rows, the new versions, and the pages that wait to be parsed. held says of
// each whether its lease was still good; what comes too late is dropped,
// because another holder fetches it.
func (s *Store) RecordFetches(ctx context.Context, fetches []crawl.Fetched) (held []bool, err error) {
	err = s.inTx(ctx, func(q *db.Queries) error {
		held = make([]bool, len(fetches))
		counts := countFetches(fetches)
		if err := q.LockDomains(ctx, counts.Ids); err != nil {
			return err
		}
		rows, err := q.FinishURLs(ctx, finishParams(fetches))
		if err != nil {
			return err
		}
		type holding struct {
			crawl.Name
			lease uuid.UUID
		}
		done := make(map[holding]db.FinishURLsRow, len(rows))
		for _, r := range rows {
			done[holding{crawl.Name{Domain: r.DomainID, ID: r.ID}, r.Lease}] = r
		}
		var versions db.AddVersionsParams
		var handed db.HandOnParams
		for i, f := range fetches {
			row, ok := done[holding{crawl.Name{Domain: f.URL.DomainID, ID: f.URL.ID}, f.URL.Lease}]
			held[i] = ok
			if !ok {
				continue
			}
			if f.Version != nil {
				if err := addVersion(&versions, f.Version); err != nil {
					return err
				}
			}
			handOn(&handed, f, row)
		}
		if len(versions.UrlIds) > 0 {
			if err := q.AddVersions(ctx, versions); err != nil {
				return err
			}
		}
		if len(handed.UrlIds) > 0 {
			if err := q.HandOn(ctx, handed); err != nil {
				return err
			}
		}
		return q.CountFetches(ctx, counts)
	})
	return held, err
}

// handOn has the reader of pages told of what it has to read, and of what is
// not there any more.
func handOn(p *db.HandOnParams, f crawl.Fetched, row db.FinishURLsRow) {
	at := f.Gone
	if f.Version != nil {
		at = f.Version.FetchedAt
	}
	if f.URL.Kind != crawl.Article || at.IsZero() {
		return
	}
	p.DomainIds, p.UrlIds = append(p.DomainIds, row.DomainID), append(p.UrlIds, row.ID)
	p.Fetched, p.Urls = append(p.Fetched, at), append(p.Urls, f.URL.URL)
	p.Keys, p.Found, p.First = append(p.Keys, f.ObjectKey), append(p.Found, row.FoundAt), append(p.First, f.First)
	p.Gone, p.MovedTo = append(p.Gone, f.Version == nil), append(p.MovedTo, f.MovedTo)
}

func finishParams(fetches []crawl.Fetched) (p db.FinishURLsParams) {
	for _, f := range fetches {
		u := f.URL
		p.DomainIds, p.Ids, p.Leases = append(p.DomainIds, u.DomainID), append(p.Ids, u.ID), append(p.Leases, u.Lease)
		p.Never, p.DueIn = append(p.Never, f.Never), append(p.DueIn, f.DueIn.Seconds())
		p.States, p.Changed = append(p.States, string(u.State)), append(p.Changed, f.Changed)
		p.Tries, p.Statuses, p.Ranks = append(p.Tries, int16(u.Tries)), append(p.Statuses, int16(u.LastStatus)), append(p.Ranks, int16(u.Rank)) //nolint:gosec // small
		p.Every = append(p.Every, seconds(u.Every))
		p.Etags, p.Modified = append(p.Etags, u.ETag), append(p.Modified, u.LastModified)
		p.Content, p.Simhashes, p.Raw = append(p.Content, u.ContentHash), append(p.Simhashes, u.SimHash), append(p.Raw, u.RawHash)
		p.Canonicals, p.Problems = append(p.Canonicals, u.Canonical), append(p.Problems, f.Problem)
	}
	return p
}

func addVersion(p *db.AddVersionsParams, v *crawl.Version) error {
	header, err := json.Marshal(v.Header)
	if err != nil {
		return err
	}
	p.DomainIds, p.UrlIds, p.Fetched = append(p.DomainIds, v.DomainID), append(p.UrlIds, v.URLID), append(p.Fetched, v.FetchedAt)
	p.Statuses, p.Bytes, p.StoredBytes = append(p.Statuses, int16(v.Status)), append(p.Bytes, int32(v.Bytes)), append(p.StoredBytes, int32(v.StoredBytes)) //nolint:gosec // capped by the fetcher
	p.Kinds, p.Raw, p.FinalUrls = append(p.Kinds, string(v.Kind)), append(p.Raw, v.RawHash), append(p.FinalUrls, v.FinalURL)
	p.Headers = append(p.Headers, string(header))
	return nil
}

// countFetches adds up the figures of each domain.
func countFetches(fetches []crawl.Fetched) (p db.CountFetchesParams) {
	at := map[int32]int{}
	for _, f := range fetches {
		i, ok := at[f.URL.DomainID]
		if !ok {
			i = len(p.Ids)
			at[f.URL.DomainID] = i
			p.Ids = append(p.Ids, f.URL.DomainID)
			p.Fetches, p.Stores, p.Unchanges = append(p.Fetches, 0), append(p.Stores, 0), append(p.Unchanges, 0)
			p.Fails, p.TimeoutCounts, p.Refusals = append(p.Fails, 0), append(p.TimeoutCounts, 0), append(p.Refusals, 0)
			p.ByteCounts, p.Response, p.Hubs, p.News, p.DueIn = append(p.ByteCounts, 0), append(p.Response, 0), append(p.Hubs, 0), append(p.News, 0), append(p.DueIn, -1)
		}
		p.Fetches[i] += int32(f.Requests) //nolint:gosec // a few
		p.ByteCounts[i] += f.Bytes
		if f.Response > 0 {
			p.Response[i] = float64(f.Response.Microseconds()) / 1000
		}
		switch {
		case f.Timeout:
			p.TimeoutCounts[i]++
			p.Fails[i]++
		case f.Failed:
			p.Fails[i]++
		case f.URL.State == crawl.Refused:
			p.Refusals[i]++
		case f.Version != nil:
			p.Stores[i]++
		case f.URL.State == crawl.Kept:
			p.Unchanges[i]++
		}
		if f.URL.Kind.Hub() && !f.Failed {
			p.Hubs[i] = 1
			if f.Changed {
				p.News[i] = 1
			}
		}
		if !f.Never && (p.DueIn[i] < 0 || f.DueIn.Seconds() < p.DueIn[i]) {
			p.DueIn[i] = f.DueIn.Seconds()
		}
	}
	return p
}
