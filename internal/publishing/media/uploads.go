package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"

	"dateline/internal/infra/blob"
)

// Upload is a file on its way to the bucket, past Dateline.
type Upload struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	FileName    string
	AltText     string
	Bytes       int64
	SHA256      []byte // that the uploader promises; nil: none
	ObjectKey   string // where the bytes arrive
	MultipartID string // the bucket's id of an upload in parts; empty: in one piece
	PartBytes   int64
	MediaID     *uuid.UUID // what it became
	CreatedAt   time.Time
}

// stagingKey is where a copy lies that the uploader cannot replace.
func (u Upload) stagingKey() string { return u.ObjectKey + ".sealed" }

// ExpiresAt is when an upload that was not completed is dropped.
func (u Upload) ExpiresAt() time.Time { return u.CreatedAt.Add(uploadTTL) }

// UploadStore keeps uploads.
type UploadStore interface {
	CreateUpload(ctx context.Context, u Upload, key idempotency.Key) (made Upload, replayed bool, err error)
	Upload(ctx context.Context, workspace, id uuid.UUID) (Upload, error)
	// LeaseUpload makes the caller the only one to complete an upload of at most a
	// certain age for a while; ok is false when it is older, complete, or in
	// somebody else's hands.
	LeaseUpload(ctx context.Context, workspace, id uuid.UUID, age, life time.Duration) (ok bool, err error)
	ReleaseUpload(ctx context.Context, id uuid.UUID) error
	FinishUpload(ctx context.Context, id, item uuid.UUID) error
	ExpiredUploads(ctx context.Context, age time.Duration, limit int) ([]Upload, error)
	DeleteUpload(ctx context.Context, id uuid.UUID) error
}

const (
	uploadTTL = 24 * time.Hour
	// signedURLTTL is how long an address can be used; a new one can be had.
	signedURLTTL = 6 * time.Hour
	// completeTimeout is longer than it takes to read and copy the largest file.
	completeTimeout = 30 * time.Minute

	defaultMultipartThreshold = 100 << 20
	defaultPartBytes          = 32 << 20
	maxParts                  = 1000
)

// UploadPart is a part that is still to be sent.
type UploadPart struct {
	Number int // from 1
	Bytes  int64
	blob.SignedRequest
}

// UploadTicket says what an uploader has to send, and where.
type UploadTicket struct {
	Upload
	Single *blob.SignedRequest // of an upload in one piece
	Parts  []UploadPart        // of one in parts: those that have not arrived
	// Replayed: the same request began it before.
	Replayed bool
}

// UploadRequest announces a file.
type UploadRequest struct {
	FileName string
	AltText  string
	Bytes    int64
	MIMEType string // that the uploader believes in; empty: none
	SHA256   string // hexadecimal; empty: none
	// IdempotencyKey makes a repetition begin nothing new; empty: none.
	IdempotencyKey string
}

// key names a request. Another file under the same key is another request.
func (r UploadRequest) key(who workspace.Principal) idempotency.Key {
	if r.IdempotencyKey == "" {
		return idempotency.Key{}
	}
	sum := sha256.Sum256([]byte(fmt.Sprintf("media upload\n%q\n%q\n%d\n%q\n%q", r.FileName, r.AltText, r.Bytes, r.MIMEType, strings.ToLower(r.SHA256))))
	return idempotency.Key{UserID: who.UserID, Key: r.IdempotencyKey, RequestHash: sum[:]}
}

// StartUpload lets a file be sent to the bucket directly.
func (s *Service) StartUpload(ctx context.Context, who workspace.Principal, r UploadRequest) (UploadTicket, error) {
	u, err := s.checkRequest(who, r)
	if err != nil {
		return UploadTicket{}, err
	}
	if from := orDefault(s.MultipartThreshold, defaultMultipartThreshold); u.Bytes > from {
		u.PartBytes = max(orDefault(s.PartBytes, defaultPartBytes), (u.Bytes+maxParts-1)/maxParts)
		if u.MultipartID, err = s.Objects.CreateMultipartUpload(ctx, u.ObjectKey); err != nil {
			return UploadTicket{}, storeError(err)
		}
	}
	stored, replayed, err := s.Store.CreateUpload(ctx, u, r.key(who))
	if u.MultipartID != "" && (err != nil || replayed) {
		if e := s.Objects.AbortMultipartUpload(context.WithoutCancel(ctx), u.ObjectKey, u.MultipartID); e != nil {
			s.log().Warn("parts that nobody will send were not abandoned", "upload_id", u.ID, "error", e)
		}
	}
	if err != nil {
		return UploadTicket{}, err
	}
	t, err := s.ticket(ctx, stored)
	t.Replayed = replayed
	return t, err
}

func orDefault(value, otherwise int64) int64 {
	if value == 0 {
		return otherwise
	}
	return value
}

func (s *Service) checkRequest(who workspace.Principal, r UploadRequest) (Upload, error) {
	var problems []apperr.FieldError
	add := func(field, code, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: code, Message: message})
	}
	if problem := checkAltText(r.AltText); problem != nil {
		problems = append(problems, *problem)
	}
	switch {
	case r.Bytes <= 0:
		add("bytes", "invalid", "The size in bytes is required.")
	case r.Bytes > s.MaxBytes:
		add("bytes", "too_large", fmt.Sprintf("At most %d bytes.", s.MaxBytes))
	}
	if r.MIMEType != "" && !slices.Contains(Accepted(), r.MIMEType) {
		add("mime_type", "unsupported_type", "Only "+strings.Join(Accepted(), ", ")+" are taken.")
	}
	sum, err := hex.DecodeString(r.SHA256)
	if err != nil || (len(sum) != 0 && len(sum) != sha256.Size) {
		add("sha256", "invalid", "Write the SHA-256 as 64 hexadecimal digits, or omit it.")
	}
	if len(problems) > 0 {
		return Upload{}, apperr.InvalidFields(problems...)
	}
	id := uuid.Must(uuid.NewV7())
	u := Upload{ID: id, WorkspaceID: who.WorkspaceID, UserID: who.UserID, FileName: cleanName(r.FileName), AltText: r.AltText,
		Bytes: r.Bytes, ObjectKey: "uploads/" + id.String()}
	if len(sum) > 0 {
		u.SHA256 = sum
	}
	return u, nil
}

// ReadUpload says what is still to be sent of an upload, with new addresses.
func (s *Service) ReadUpload(ctx context.Context, who workspace.Principal, id uuid.UUID) (UploadTicket, error) {
	u, err := s.Store.Upload(ctx, who.WorkspaceID, id)
	if err != nil {
		return UploadTicket{}, err
	}
	return s.ticket(ctx, u)
}

func (s *Service) ticket(ctx context.Context, u Upload) (UploadTicket, error) {
	t := UploadTicket{Upload: u}
	if u.MediaID != nil {
		return t, nil
	}
	if u.MultipartID == "" {
		whole, err := s.Objects.PresignPut(ctx, u.ObjectKey, u.Bytes, signedURLTTL)
		t.Single = &whole
		return t, err
	}
	arrived, err := s.uploadedParts(ctx, u)
	if errors.Is(err, blob.ErrNotFound) {
		return t, nil // put together already
	}
	if err != nil {
		return t, err
	}
	for number, at := 1, int64(0); at < u.Bytes; number, at = number+1, at+u.PartBytes {
		length := min(u.PartBytes, u.Bytes-at)
		if got, ok := arrived[number]; ok && got.Bytes == length {
			continue
		}
		signed, err := s.Objects.PresignPart(ctx, u.ObjectKey, u.MultipartID, number, length, signedURLTTL)
		if err != nil {
			return t, err
		}
		t.Parts = append(t.Parts, UploadPart{Number: number, Bytes: length, SignedRequest: signed})
	}
	return t, nil
}

func (s *Service) uploadedParts(ctx context.Context, u Upload) (map[int]blob.Part, error) {
	parts, err := s.Objects.ListParts(ctx, u.ObjectKey, u.MultipartID)
	byNumber := make(map[int]blob.Part, len(parts))
	for _, p := range parts {
		byNumber[p.Number] = p
	}
	return byNumber, err
}
