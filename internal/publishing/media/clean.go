package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/google/uuid"

	"dateline/internal/publishing/media/metadata"
	"dateline/internal/publishing/media/verify"
)

// CreditStore reports whether a workspace keeps IPTC credit and copyright in its
// images.
type CreditStore interface {
	PreservesMediaCredit(ctx context.Context, workspace uuid.UUID) (bool, error)
}

// cleanedFile is a file as it is stored: without metadata, with its orientation applied.
type cleanedFile struct {
	Facts
	body    io.ReadSeeker
	bytes   int64
	sum     []byte // SHA-256
	changed bool   // it differs from the uploaded file
	removed []metadata.Category
}

// clean detects the type of a file and removes its metadata before anything is
// stored or published. Images are re-encoded only to apply their orientation.
func (s *Service) clean(ctx context.Context, workspace uuid.UUID, arrived spooledFile) (c cleanedFile, err error) {
	if c.Facts, err = inspectFile(ctx, arrived.file, arrived.bytes); err != nil {
		return c, err
	}
	var o metadata.Options
	if o.KeepCredit, err = s.Store.PreservesMediaCredit(ctx, workspace); err != nil {
		return c, err
	}
	plan, err := scan(arrived, c.MIMEType, o)
	if err != nil {
		return c, err
	}
	c.removed = plan.Removed
	if plan.Orientation > 1 {
		// Viewers apply the EXIF orientation of other formats than JPEG, too.
		if c.Orientation == 1 && plan.Orientation >= 5 {
			c.Width, c.Height = c.Height, c.Width
		}
		c.Orientation = plan.Orientation
		content, ok, err := s.reorient(arrived.file, arrived.bytes, c.Facts, plan)
		if err != nil {
			return c, err
		}
		if ok {
			c.Orientation = 1
			err := c.setBody(bytes.NewReader(content), int64(len(content)))
			return c, err
		}
		o.KeepOrientation = true
		if plan, err = scan(arrived, c.MIMEType, o); err != nil {
			return c, err
		}
	}
	if !plan.Changed() {
		c.body, c.bytes, c.sum = arrived.file, arrived.bytes, arrived.sum
		return c, nil
	}
	body := plan.NewReader(arrived.file)
	// Only readers would notice that cleaning damaged the file.
	after, err := Inspect(body, plan.Size())
	if err != nil || after.Kind != c.Kind || after.Frames != c.Frames || after.Pages != c.Pages {
		return c, damaged("The metadata of the file cannot be removed: its structure is damaged. Export it again, " +
			"then upload it.")
	}
	err = c.setBody(body, plan.Size())
	return c, err
}

func scan(arrived spooledFile, mimeType string, o metadata.Options) (*metadata.Plan, error) {
	plan, err := metadata.Scan(arrived.file, arrived.bytes, mimeType, o)
	if errors.Is(err, metadata.ErrMalformed) {
		return nil, damaged("The metadata of the file cannot be removed: %s. Export it again, then upload it.", err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of a file: %w", err)
	}
	return plan, nil
}

// setBody replaces the bytes that are stored. A location counts as removed only if an
// independent reader does not find one either.
func (c *cleanedFile) setBody(body interface {
	io.ReadSeeker
	io.ReaderAt
}, size int64,
) error {
	if i := slices.Index(c.removed, metadata.Location); i >= 0 {
		if remains, err := verify.HasPosition(body, size, c.MIMEType); err != nil || remains {
			c.removed = slices.Delete(c.removed, i, i+1)
		}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return fmt.Errorf("reading a file without its metadata: %w", err)
	}
	c.body, c.bytes, c.sum, c.changed = body, size, sum.Sum(nil), true
	return nil
}

// item returns the library item of the file.
func (c *cleanedFile) item(item Item) Item {
	item.Facts, item.Bytes, item.SHA256, item.ObjectKey = c.Facts, c.bytes, c.sum, objectKey(c.sum)
	for _, category := range metadata.Categories() {
		if slices.Contains(c.removed, category) && !slices.Contains(item.MetadataRemoved, category) {
			item.MetadataRemoved = append(item.MetadataRemoved, category)
		}
	}
	return item
}

// store writes the file to the bucket.
func (s *Service) store(ctx context.Context, item Item, c cleanedFile) error {
	if _, err := c.body.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return s.Objects.Put(ctx, item.ObjectKey, item.MIMEType, item.Bytes, c.body)
}

// spooledFile is an uploaded file in a temporary file, which Close deletes.
type spooledFile struct {
	file  *os.File
	bytes int64
	sum   []byte // SHA-256
}

func (f spooledFile) close() { _ = f.file.Close(); _ = os.Remove(f.file.Name()) }

// spool copies r to a temporary file and hashes it. It reads at most one byte more
// than limit.
func spool(body io.Reader, limit int64) (f spooledFile, err error) {
	file, err := os.CreateTemp("", "dateline-upload-*")
	if err != nil {
		return f, storeError(err)
	}
	f.file = file
	sum, disk := sha256.New(), &diskWriter{file: file}
	f.bytes, err = io.Copy(io.MultiWriter(disk, sum), io.LimitReader(body, limit+1))
	if err != nil {
		f.close()
		if disk.err != nil {
			return f, storeError(disk.err)
		}
		return f, readError{err}
	}
	f.sum = sum.Sum(nil)
	return f, nil
}

// diskWriter distinguishes a failing disk from a failing sender.
type diskWriter struct {
	file *os.File
	err  error
}

func (w *diskWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

// readError wraps an error of the reader, as opposed to one of the disk.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }
