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

// Upload is a direct upload by a client to the bucket.
type Upload struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	FileName    string
	AltText     string
	Bytes       int64
	SHA256      []byte // declared by the client; nil: none
	ObjectKey   string // of the uploaded bytes
	MultipartID string // the bucket's id of a multipart upload; empty: single request
	PartBytes   int64
	MediaID     *uuid.UUID // the resulting file
	CreatedAt   time.Time
}

// stagingKey is the key of a copy that the client cannot replace.
func (u Upload) stagingKey() string { return u.ObjectKey + ".sealed" }

// ExpiresAt returns when an incomplete upload is deleted.
func (u Upload) ExpiresAt() time.Time { return u.CreatedAt.Add(uploadTTL) }

// UploadStore stores direct uploads.
type UploadStore interface {
	CreateUpload(ctx context.Context, u Upload, key idempotency.Key) (made Upload, replayed bool, err error)
	Upload(ctx context.Context, workspace, id uuid.UUID) (Upload, error)
	// LeaseUpload gives the caller the exclusive right to complete an upload for a
	// limited time; ok is false if the upload is too old, complete, or leased.
	LeaseUpload(ctx context.Context, workspace, id uuid.UUID, age, life time.Duration) (ok bool, err error)
	ReleaseUpload(ctx context.Context, id uuid.UUID) error
	FinishUpload(ctx context.Context, id, item uuid.UUID) error
	ExpiredUploads(ctx context.Context, age time.Duration, limit int) ([]Upload, error)
	DeleteUpload(ctx context.Context, id uuid.UUID) error
}

const (
	uploadTTL = 24 * time.Hour
	// signedURLTTL is how long a signed URL is valid. Clients can request new ones.
	signedURLTTL = 6 * time.Hour
	// completeTimeout exceeds the time to read and copy the largest file.
	completeTimeout = 30 * time.Minute

	defaultMultipartThreshold = 100 << 20
	defaultPartBytes          = 32 << 20
	maxParts                  = 1000
)

// UploadPart is a part that the client still has to send.
type UploadPart struct {
	Number int // from 1
	Bytes  int64
	blob.SignedRequest
}

// UploadTicket describes what a client sends, and where.
type UploadTicket struct {
	Upload
	Single *blob.SignedRequest // of a single-request upload
	Parts  []UploadPart        // of a multipart upload: the missing parts
	// Replayed means that an earlier request with the same key started the upload.
	Replayed bool
}

// UploadRequest announces a file.
type UploadRequest struct {
	FileName string
	AltText  string
	Bytes    int64
	MIMEType string // declared by the client; empty: none
	SHA256   string // hexadecimal; empty: none
	// IdempotencyKey makes repeated requests return the same upload; empty: none.
	IdempotencyKey string
}

// key identifies a request. The same key with another file is a conflict.
func (r UploadRequest) key(who workspace.Principal) idempotency.Key {
	if r.IdempotencyKey == "" {
		return idempotency.Key{}
	}
	sum := sha256.Sum256([]byte(fmt.Sprintf("media upload\n%q\n%q\n%d\n%q\n%q", r.FileName, r.AltText, r.Bytes,
		r.MIMEType, strings.ToLower(r.SHA256))))
	return idempotency.Key{UserID: who.UserID, Key: r.IdempotencyKey, RequestHash: sum[:]}
}

// StartUpload prepares a direct upload to the bucket.
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
			s.log().Warn("aborting an unused multipart upload failed", "upload_id", u.ID, "error", e)
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
		add("mime_type", "unsupported_type", "Only "+strings.Join(Accepted(), ", ")+" are accepted.")
	}
	sum, err := hex.DecodeString(r.SHA256)
	if err != nil || (len(sum) != 0 && len(sum) != sha256.Size) {
		add("sha256", "invalid", "Write the SHA-256 as 64 hexadecimal digits, or omit it.")
	}
	if len(problems) > 0 {
		return Upload{}, apperr.InvalidFields(problems...)
	}
	id := uuid.Must(uuid.NewV7())
	u := Upload{
		ID: id, WorkspaceID: who.WorkspaceID, UserID: who.UserID, FileName: cleanName(r.FileName),
		AltText: r.AltText,
		Bytes:   r.Bytes, ObjectKey: "uploads/" + id.String(),
	}
	if len(sum) > 0 {
		u.SHA256 = sum
	}
	return u, nil
}

// ReadUpload returns what a client still has to send, with new signed URLs.
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
		return t, nil // already assembled
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
