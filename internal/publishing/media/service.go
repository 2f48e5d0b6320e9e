package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/media/metadata"

	"dateline/internal/infra/blob"
)

// Objects stores the bytes of files.
type Objects interface {
	Put(ctx context.Context, key, contentType string, size int64, body io.ReadSeeker) error
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	Size(ctx context.Context, key string) (int64, error)
	Copy(ctx context.Context, from, to, contentType string) error
	Delete(ctx context.Context, key string) error
	URL(key string) string

	DirectUploads
}

// DirectUploads lets clients upload to the bucket themselves, in one request or in
// parts.
type DirectUploads interface {
	PresignPut(ctx context.Context, key string, bytes int64, life time.Duration) (blob.SignedRequest, error)
	PresignPart(ctx context.Context, key, upload string, number int, bytes int64,
		life time.Duration) (blob.SignedRequest, error)
	CreateMultipartUpload(ctx context.Context, key string) (upload string, err error)
	ListParts(ctx context.Context, key, upload string) ([]blob.Part, error)
	CompleteMultipartUpload(ctx context.Context, key, upload string, parts []blob.Part) error
	AbortMultipartUpload(ctx context.Context, key, upload string) error
}

// ErrUnclaimed means that an object may have been deleted, because nothing referred to
// it since it was stored. Store it again.
var ErrUnclaimed = errors.New("the object was not claimed, or no more")

// Store stores the items of the library.
type Store interface {
	// ClaimObject protects an object that is about to be stored from deletion for the
	// given time. It waits for a deletion in progress.
	ClaimObject(ctx context.Context, key string, life time.Duration) error
	// SaveMedia adds a file whose object was claimed and stored; otherwise it returns
	// ErrUnclaimed. replayed means that an earlier request with the key added it.
	SaveMedia(ctx context.Context, m Item, key idempotency.Key) (saved Item, replayed bool, err error)
	MediaItem(ctx context.Context, workspace, id uuid.UUID) (Item, error)
	ListMedia(ctx context.Context, f Filter) ([]Item, error)
	EditMedia(ctx context.Context, workspace, id uuid.UUID, e Edit) (item Item, posts []uuid.UUID, err error)
	DeleteMedia(ctx context.Context, workspace, id uuid.UUID) error

	UploadStore
	RenditionStore
	SweepStore
	CreditStore
}

// Service manages the media library. Objects, Store and MaxBytes must be set.
type Service struct {
	Objects  Objects
	Store    Store
	MaxBytes int64 // of a file

	Web       *http.Client  // fetches by URL and must reject private addresses; nil: no fetching
	Retention time.Duration // of files that no post uses; 0: unlimited
	Log       *slog.Logger  // nil: slog's default

	FetchLimits FetchLimits // for servers of fetched files

	MultipartThreshold int64 // larger uploads are sent in parts; 0: 100 MiB
	PartBytes          int64 // minimum size of a part; 0: 32 MiB

	rendering sync.Mutex
}

const (
	maxAltText  = 10_000 // bytes; every network allows less
	maxFileName = 200    // bytes

	// claimTTL exceeds the time to store the largest object.
	claimTTL = time.Hour
)

func (s *Service) log() *slog.Logger {
	if s.Log == nil {
		return slog.Default()
	}
	return s.Log
}

// NewFile is an uploaded file.
type NewFile struct {
	FileName       string
	AltText        string
	Body           io.Reader
	IdempotencyKey string
	// MetadataRemoved lists metadata that was removed earlier; set when a workspace
	// archive is imported.
	MetadataRemoved []metadata.Category
	// ReadRest reads what follows Body and may set AltText; nil: nothing follows.
	ReadRest func(*NewFile) error
}

// Upload stores a file.
func (s *Service) Upload(
	ctx context.Context, who workspace.Principal, fileName, altText string, body io.Reader,
) (Item, error) {
	item, _, err := s.Save(ctx, who, NewFile{FileName: fileName, AltText: altText, Body: body})
	return item, err
}

// Save stores a file without its metadata. The file is first written to local disk,
// hashed and inspected, so that memory stays bounded and the object's key is derived
// from its content.
func (s *Service) Save(ctx context.Context, who workspace.Principal, in NewFile) (item Item, replayed bool, err error) {
	if problem := checkAltText(in.AltText); problem != nil {
		return Item{}, false, apperr.InvalidFields(*problem)
	}
	arrived, err := spool(in.Body, s.MaxBytes)
	if err != nil {
		return Item{}, false, uploadError(err)
	}
	defer arrived.close()
	if err := s.checkSize(arrived.bytes); err != nil {
		return Item{}, false, err
	}
	if in.ReadRest != nil {
		if err := in.ReadRest(&in); err != nil {
			return Item{}, false, err
		}
		if problem := checkAltText(in.AltText); problem != nil {
			return Item{}, false, apperr.InvalidFields(*problem)
		}
	}
	c, err := s.clean(ctx, who.WorkspaceID, arrived)
	if err != nil {
		return Item{}, false, err
	}
	item = c.item(Item{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, UserID: who.UserID,
		FileName: cleanName(in.FileName), AltText: in.AltText, MetadataRemoved: in.MetadataRemoved,
	})
	key := idempotency.Key{UserID: who.UserID, Key: in.IdempotencyKey}
	if key.Key != "" {
		// The hash of the uploaded bytes does not depend on the workspace's settings.
		request := sha256.Sum256([]byte(fmt.Sprintf("media\n%x\n%q\n%q", arrived.sum, item.FileName, item.AltText)))
		key.RequestHash = request[:]
	}
	return s.saveObject(ctx, item, key, func() error { return s.store(ctx, item, c) })
}

// saveObject stores the object of a file, then its item.
func (s *Service) saveObject(
	ctx context.Context, item Item, key idempotency.Key, put func() error,
) (saved Item, replayed bool, err error) {
	for range 10 {
		if err := s.Store.ClaimObject(ctx, item.ObjectKey, claimTTL); err != nil {
			return Item{}, false, err
		}
		if err := put(); err != nil {
			return Item{}, false, storeError(err)
		}
		saved, replayed, err = s.Store.SaveMedia(ctx, item, key)
		if !errors.Is(err, ErrUnclaimed) {
			break
		}
	}
	return saved, replayed, err
}

// uploadError describes an upload that ended early and returns other errors unchanged.
func uploadError(err error) error {
	var known *apperr.Error
	var arrival readError
	if !errors.As(err, &arrival) {
		return err
	}
	if errors.As(err, &known) {
		return known
	}
	return &apperr.Error{
		Kind: apperr.KindInvalid, Code: "upload_broken",
		Message: "The upload was interrupted. Send the file again.",
		Fields:  []apperr.FieldError{{Field: "file", Code: "incomplete", Message: "The file is incomplete."}},
	}
}

func (s *Service) checkSize(n int64) error {
	if n > s.MaxBytes {
		return &apperr.Error{
			Kind: apperr.KindTooLarge, Code: "too_large",
			Message: fmt.Sprintf("The file is larger than %d bytes.", s.MaxBytes),
			Fields: []apperr.FieldError{
				{Field: "file", Code: "too_large", Message: fmt.Sprintf("At most %d bytes.", s.MaxBytes)},
			},
		}
	}
	if n == 0 {
		return apperr.InvalidFields(apperr.FieldError{Field: "file", Code: "empty", Message: "The file is empty."})
	}
	return nil
}

func checkAltText(text string) *apperr.FieldError {
	switch {
	case len(text) > maxAltText:
		return &apperr.FieldError{
			Field: "alt_text", Code: "too_long", Message: "The description is longer than 10,000 bytes.",
		}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return &apperr.FieldError{
			Field: "alt_text", Code: "invalid", Message: "The description must be valid UTF-8 without NUL.",
		}
	}
	return nil
}

func objectKey(sum []byte) string {
	h := hex.EncodeToString(sum)
	return "media/" + h[:2] + "/" + h
}

// cleanName returns the last path element without control characters, because some
// networks show it.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, filepath.Base(strings.ReplaceAll(strings.ToValidUTF8(name, ""), "\\", "/")))
	if len(name) > maxFileName {
		name = name[len(name)-maxFileName:]
	}
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	return strings.ToValidUTF8(name, "") // truncation may have split a character
}

// Reader opens a stored file; bytes are downloaded on demand.
func Reader(objects Objects, item Item) func(ctx context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) { return objects.Get(ctx, item.ObjectKey) }
}
