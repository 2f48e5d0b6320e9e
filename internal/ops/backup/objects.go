package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"dateline/internal/infra/blob"
)

// object is an object that rows refer to.
type object struct{ Key, ContentType string }

// objectQueries returns the queries for the objects that rows refer to.
func objectQueries(which string) []string {
	media := []string{`select o.object_key, coalesce(
			(select m.mime_type from media m where m.held_key = o.object_key limit 1),
			(select r.mime_type from media_renditions r where r.object_key = o.object_key limit 1),
				'application/octet-stream')
		from media_objects o order by 1`}
	if which == AllObjects {
		return append(media,
			`select 'pages/' || d.domain || '/' || v.url_id || '/' || v.raw_hash || '.zst', 'application/zstd'
			from page_versions v join crawl_domains d on d.id = v.domain_id group by 1 order by 1`)
	}
	return media
}

// eachObject calls do for all objects. It reads them in batches to limit the memory.
func eachObject(ctx context.Context, tx pgx.Tx, which string, do func(object) error) error {
	for _, query := range objectQueries(which) {
		if _, err := tx.Exec(ctx, "declare files no scroll cursor for "+query); err != nil {
			return err
		}
		for {
			rows, err := tx.Query(ctx, "fetch 1000 from files")
			if err != nil {
				return err
			}
			some, err := pgx.CollectRows(rows, pgx.RowToStructByPos[object])
			if err != nil {
				return err
			}
			for _, f := range some {
				if err := do(f); err != nil {
					return err
				}
			}
			if len(some) == 0 {
				break
			}
		}
		if _, err := tx.Exec(ctx, "close files"); err != nil {
			return err
		}
	}
	return nil
}

func countObjects(ctx context.Context, tx pgx.Tx, which string) (total int64, err error) {
	for _, query := range objectQueries(which) {
		n, err := collect[int64](ctx, tx, "select count(*) from ("+query+") objects")
		if err != nil {
			return 0, err
		}
		total += n[0]
	}
	return total, nil
}

// contentTypeRecord is the PAX record with the content type of an object (POSIX.1-2001:
// vendor keywords are in upper case).
const contentTypeRecord = "DATELINE.content-type"

func (s Source) writeObjects(ctx context.Context, to *archive, tx pgx.Tx, which string, end *End) error {
	if s.Bucket == nil {
		return errors.New("the files need the object store: set S3_ENDPOINT and what belongs to it")
	}
	report := func() {}
	if s.OnProgress != nil {
		total, err := countObjects(ctx, tx, which)
		if err != nil {
			return err
		}
		report = func() { s.OnProgress(ObjectsPart, end.Objects+end.Missing, total) }
	}
	return eachObject(ctx, tx, which, func(f object) error {
		defer report()
		size, err := s.Bucket.Size(ctx, f.Key)
		if errors.Is(err, blob.ErrNotFound) { // claimed and never stored, or lost
			end.Missing++
			return nil
		}
		if err != nil {
			return err
		}
		body, err := s.Bucket.Get(ctx, f.Key)
		if err != nil {
			return err
		}
		defer func() { _ = body.Close() }()
		if err := to.object(f, size); err != nil {
			return err
		}
		if _, err := io.Copy(to.tar, io.LimitReader(body, size)); err != nil {
			return fmt.Errorf("reading %s: %w", f.Key, err)
		}
		end.Objects++
		return nil
	})
}

// loadObjects uploads the files of an archive to the bucket, each through a temporary
// file, because the S3 client reads it twice.
func (a *Archive) loadObjects(ctx context.Context, bucket Bucket) (n int64, err error) {
	for a.next != nil && strings.HasPrefix(a.next.Name, objectPrefix) {
		if err := a.loadObject(ctx, bucket, strings.TrimPrefix(a.next.Name, objectPrefix)); err != nil {
			return n, err
		}
		n++
		if err := a.advance(); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (a *Archive) loadObject(ctx context.Context, bucket Bucket, key string) error {
	size, contentType := a.next.Size, a.next.PAXRecords[contentTypeRecord]
	if bucket == nil {
		_, err := io.Copy(io.Discard, a.tar)
		return err
	}
	f, err := os.CreateTemp("", "dateline-restore-*")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	if n, err := io.Copy(f, a.tar); err != nil || n != size {
		return damaged("%s has %d bytes of %d", key, n, size)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return bucket.Put(ctx, key, cmp.Or(contentType, "application/octet-stream"), size, f)
}

// Missing counts the media that rows refer to and the bucket does not have, and
// names some.
func Missing(ctx context.Context, database string, bucket Bucket) (n int64, some []string, err error) {
	conn, err := connect(ctx, database)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		return eachObject(ctx, tx, MediaObjects, func(f object) error {
			_, err := bucket.Size(ctx, f.Key)
			if errors.Is(err, blob.ErrNotFound) {
				if n++; len(some) < 5 {
					some = append(some, f.Key)
				}
				return nil
			}
			return err
		})
	})
	return n, some, err
}
