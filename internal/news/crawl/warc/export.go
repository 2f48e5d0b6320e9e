package warc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"dateline/internal/news/crawl"
)

// Store lists stored page versions.
type Store interface {
	GetCrawlDomain(ctx context.Context, domain string) (crawl.Domain, error)
	ListVersions(ctx context.Context, domain int, from, to time.Time, after crawl.PageVersion,
		limit int) ([]crawl.PageVersion, error)
}

// Pages reads stored pages.
type Pages interface {
	Get(ctx context.Context, key, hash string) ([]byte, error)
}

// Objects stores finished files.
type Objects interface {
	Put(ctx context.Context, key, contentType string, size int64, body io.ReadSeeker) error
}

// Exporter writes WARC files of crawled pages.
type Exporter struct {
	Store    Store
	Pages    Pages
	Objects  Objects
	Software string
	Operator string // contact of the crawler's operator
	Log      *slog.Logger
}

// ContentType is the content type of WARC files.
const ContentType = "application/warc"

const exportBatch = 200

// Write streams a domain's pages of a time range. Pages that are deleted in the
// meantime are left out. progress is called after every batch; it may be nil.
func (e *Exporter) Write(
	ctx context.Context, out io.Writer, domain string, from, to time.Time, progress func(pages int),
) (pages int, bytes int64, err error) {
	d, err := e.Store.GetCrawlDomain(ctx, domain)
	if err != nil {
		return 0, 0, err
	}
	w, err := NewWriter(out, e.Software, e.Operator, fmt.Sprintf("pages of %s fetched from %s to before %s", domain,
		date(from), date(to)), time.Now())
	if err != nil {
		return 0, 0, err
	}
	for after := (crawl.PageVersion{}); ; {
		batch, err := e.Store.ListVersions(ctx, d.ID, from, to, after, exportBatch)
		if err != nil {
			return pages, w.Bytes(), err
		}
		for _, v := range batch {
			body, err := e.Pages.Get(ctx, crawl.ObjectKey(domain, v.URLID, v.RawHash), v.RawHash)
			if ctx.Err() != nil {
				return pages, w.Bytes(), ctx.Err()
			}
			if err != nil {
				e.Log.Warn("page is missing from an export", "domain", domain, "url", v.URLID, "error", err)
				continue
			}
			contentType := ""
			if given := v.Header["Content-Type"]; len(given) > 0 {
				contentType = given[0]
			}
			if err := w.Page(Page{
				URL: v.URL, FinalURL: v.FinalURL, FetchedAt: v.FetchedAt, Status: v.Status,
				Header: v.Header, Kind: string(v.Kind),
				Body: body, ContentType: contentType,
			}); err != nil {
				return pages, w.Bytes(), err
			}
			pages++
		}
		if progress != nil {
			progress(pages)
		}
		if len(batch) < exportBatch {
			return pages, w.Bytes(), nil
		}
		after = batch[len(batch)-1]
	}
}

// Export writes a file into the object store, through a temporary file because
// S3 needs its size.
func (e *Exporter) Export(
	ctx context.Context, domain string, from, to time.Time, key string, progress func(pages int),
) (pages int, bytes int64, err error) {
	file, err := os.CreateTemp("", "dateline-*.warc.gz")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	if pages, bytes, err = e.Write(ctx, file, domain, from, to, progress); err != nil {
		return pages, bytes, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return pages, bytes, err
	}
	return pages, bytes, e.Objects.Put(ctx, key, ContentType, bytes, file)
}

// ExportKey is the object key of an export.
func ExportKey(domain, export string) string {
	return "exports/" + domain + "/" + export + ".warc.gz"
}
