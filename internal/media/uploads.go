package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/objects"
	"dateline/internal/people"
	"dateline/internal/post"
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
	PartsID     string // the bucket's id of an upload in parts; empty: in one piece
	PartBytes   int64
	MediaID     *uuid.UUID // what it became
	CreatedAt   time.Time
}

// sealedKey is where a copy lies that the uploader cannot replace.
func (u Upload) sealedKey() string { return u.ObjectKey + ".sealed" }

// ExpiresAt is when an upload that was not completed is dropped.
func (u Upload) ExpiresAt() time.Time { return u.CreatedAt.Add(uploadLife) }

// UploadStore keeps uploads.
type UploadStore interface {
	CreateUpload(ctx context.Context, u Upload) (Upload, error)
	Upload(ctx context.Context, workspace, id uuid.UUID) (Upload, error)
	// TakeUpload makes the caller the only one to complete an upload of at most a
	// certain age for a while; ok is false when it is older, complete, or in
	// somebody else's hands.
	TakeUpload(ctx context.Context, workspace, id uuid.UUID, age, life time.Duration) (ok bool, err error)
	ReturnUpload(ctx context.Context, id uuid.UUID) error
	FinishUpload(ctx context.Context, id, item uuid.UUID) error
	OldUploads(ctx context.Context, age time.Duration, limit int) ([]Upload, error)
	DropUpload(ctx context.Context, id uuid.UUID) error
}

const (
	uploadLife = 24 * time.Hour
	// signedFor is how long an address can be used; a new one can be had.
	signedFor = 6 * time.Hour
	// completeFor is longer than it takes to read and copy the largest file.
	completeFor = 30 * time.Minute

	defaultPartsFrom = 100 << 20
	defaultPartBytes = 32 << 20
	maxParts         = 1000
)

// UploadPart is a part that is still to be sent.
type UploadPart struct {
	Number int // from 1
	Bytes  int64
	objects.Signed
}

// Ticket says what an uploader has to send, and where.
type Ticket struct {
	Upload
	Whole *objects.Signed // of an upload in one piece
	Parts []UploadPart    // of one in parts: those that have not arrived
}

// UploadRequest announces a file.
type UploadRequest struct {
	FileName string
	AltText  string
	Bytes    int64
	MIMEType string // that the uploader believes in; empty: none
	SHA256   string // hexadecimal; empty: none
}

// BeginUpload lets a file be sent to the bucket directly.
func (s *Service) BeginUpload(ctx context.Context, who people.Principal, r UploadRequest) (Ticket, error) {
	u, err := s.checkRequest(who, r)
	if err != nil {
		return Ticket{}, err
	}
	if from := cmpOr(s.PartsFrom, defaultPartsFrom); u.Bytes > from {
		u.PartBytes = max(cmpOr(s.PartBytes, defaultPartBytes), (u.Bytes+maxParts-1)/maxParts)
		if u.PartsID, err = s.Objects.BeginParts(ctx, u.ObjectKey); err != nil {
			return Ticket{}, err
		}
	}
	stored, err := s.Store.CreateUpload(ctx, u)
	if err != nil {
		return Ticket{}, err
	}
	return s.ticket(ctx, stored)
}

func cmpOr(value, otherwise int64) int64 {
	if value == 0 {
		return otherwise
	}
	return value
}

func (s *Service) checkRequest(who people.Principal, r UploadRequest) (Upload, error) {
	var problems []post.Problem
	add := func(field, code, message string) {
		problems = append(problems, post.Problem{Field: field, Code: code, Message: message})
	}
	if problem := checkAltText(r.AltText); problem != nil {
		problems = append(problems, *problem)
	}
	switch {
	case r.Bytes <= 0:
		add("bytes", "invalid", "Say how many bytes the file has.")
	case r.Bytes > s.MaxBytes:
		add("bytes", "too_large", fmt.Sprintf("At most %d bytes.", s.MaxBytes))
	}
	if r.MIMEType != "" && !slices.Contains(Accepted(), r.MIMEType) {
		add("mime_type", "unsupported_type", "Only "+strings.Join(Accepted(), ", ")+" are taken.")
	}
	sum, err := hex.DecodeString(r.SHA256)
	if err != nil || (len(sum) != 0 && len(sum) != sha256.Size) {
		add("sha256", "invalid", "Write the SHA-256 as 64 hexadecimal digits, or leave it out.")
	}
	if len(problems) > 0 {
		return Upload{}, post.InvalidFields(problems...)
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
func (s *Service) ReadUpload(ctx context.Context, who people.Principal, id uuid.UUID) (Ticket, error) {
	u, err := s.Store.Upload(ctx, who.WorkspaceID, id)
	if err != nil {
		return Ticket{}, err
	}
	return s.ticket(ctx, u)
}

func (s *Service) ticket(ctx context.Context, u Upload) (Ticket, error) {
	t := Ticket{Upload: u}
	if u.MediaID != nil {
		return t, nil
	}
	if u.PartsID == "" {
		whole, err := s.Objects.PresignPut(ctx, u.ObjectKey, u.Bytes, signedFor)
		t.Whole = &whole
		return t, err
	}
	arrived, err := s.arrived(ctx, u)
	if errors.Is(err, objects.ErrNone) {
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
		signed, err := s.Objects.PresignPart(ctx, u.ObjectKey, u.PartsID, number, length, signedFor)
		if err != nil {
			return t, err
		}
		t.Parts = append(t.Parts, UploadPart{Number: number, Bytes: length, Signed: signed})
	}
	return t, nil
}

func (s *Service) arrived(ctx context.Context, u Upload) (map[int]objects.Part, error) {
	parts, err := s.Objects.Parts(ctx, u.ObjectKey, u.PartsID)
	byNumber := make(map[int]objects.Part, len(parts))
	for _, p := range parts {
		byNumber[p.Number] = p
	}
	return byNumber, err
}

// CompleteUpload makes a file of what has arrived. It reads the object once,
// and none of it stays in memory. Repeating it is harmless.
func (s *Service) CompleteUpload(ctx context.Context, who people.Principal, id uuid.UUID) (item Item, err error) {
	u, err := s.Store.Upload(ctx, who.WorkspaceID, id)
	if err != nil {
		return Item{}, err
	}
	taken, err := s.Store.TakeUpload(ctx, who.WorkspaceID, id, uploadLife, completeFor)
	if err != nil {
		return Item{}, err
	}
	if !taken {
		return s.completed(ctx, who, id)
	}
	done := false
	defer func() {
		if !done { // also when the request was given up
			if e := s.Store.ReturnUpload(context.WithoutCancel(ctx), id); e != nil {
				err = errors.Join(err, e)
			}
		}
	}()
	if item, err = s.Store.MediaItem(ctx, who.WorkspaceID, id); err != nil { // not made by a request that broke off
		if err := s.assemble(ctx, u); err != nil {
			return Item{}, err
		}
		if item, err = s.promote(ctx, u); err != nil {
			return Item{}, err
		}
	}
	if err := s.Store.FinishUpload(ctx, u.ID, item.ID); err != nil {
		return Item{}, err
	}
	done = true
	if err := s.clear(context.WithoutCancel(ctx), u); err != nil {
		s.log().Warn("a completed upload could not be cleared; a later sweep does it", "upload_id", u.ID, "error", err)
	}
	return item, nil
}

// completed is the file that an upload has become, or says why there is none.
func (s *Service) completed(ctx context.Context, who people.Principal, id uuid.UUID) (Item, error) {
	u, err := s.Store.Upload(ctx, who.WorkspaceID, id)
	switch {
	case err != nil:
		return Item{}, err
	case u.MediaID != nil:
		return s.Store.MediaItem(ctx, who.WorkspaceID, *u.MediaID)
	case time.Now().After(u.ExpiresAt()):
		return Item{}, &post.Error{Kind: post.Conflict, Code: "upload_expired", Message: "This upload was not completed in time. Begin a new one."}
	default:
		return Item{}, &post.Error{Kind: post.Conflict, Code: "upload_busy", Message: "This upload is being completed by another request. Ask again."}
	}
}

// assemble puts an upload's parts together.
func (s *Service) assemble(ctx context.Context, u Upload) error {
	if u.PartsID == "" {
		return nil
	}
	arrived, err := s.arrived(ctx, u)
	if errors.Is(err, objects.ErrNone) {
		return nil // an earlier request did; whether the object is there is seen next
	}
	if err != nil {
		return err
	}
	var parts []objects.Part
	var missing []string
	for number, at := 1, int64(0); at < u.Bytes; number, at = number+1, at+u.PartBytes {
		part, ok := arrived[number]
		if !ok || part.Bytes != min(u.PartBytes, u.Bytes-at) {
			missing = append(missing, strconv.Itoa(number))
			continue
		}
		parts = append(parts, part)
	}
	if len(missing) > 0 {
		return incomplete("Parts are missing: " + shorten(missing) + ". Read the upload to get their addresses, send them, then complete it.")
	}
	if err := s.Objects.CompleteParts(ctx, u.ObjectKey, u.PartsID, parts); !errors.Is(err, objects.ErrNone) {
		return err
	}
	return nil
}

// clear removes the bytes of an upload.
func (s *Service) clear(ctx context.Context, u Upload) error {
	return errors.Join(s.Objects.Delete(ctx, u.ObjectKey), s.Objects.Delete(ctx, u.sealedKey()))
}

func shorten(list []string) string {
	if len(list) > 10 {
		return strings.Join(list[:10], ", ") + fmt.Sprintf(" and %d more", len(list)-10)
	}
	return strings.Join(list, ", ")
}

func incomplete(message string) *post.Error {
	return &post.Error{Kind: post.Conflict, Code: "upload_incomplete", Message: message}
}

// promote verifies what has arrived, and copies it to where its content says.
// What came in one piece can be replaced by whoever has the address for as long
// as that is good, so a copy of it is verified that nobody has an address of.
func (s *Service) promote(ctx context.Context, u Upload) (Item, error) {
	key := u.ObjectKey
	if u.PartsID == "" {
		key = u.sealedKey()
		if err := s.Objects.Copy(ctx, u.ObjectKey, key, "application/octet-stream"); err != nil && !errors.Is(err, objects.ErrNone) {
			return Item{}, err
		}
	}
	size, err := s.Objects.Size(ctx, key)
	if errors.Is(err, objects.ErrNone) {
		return Item{}, incomplete("Nothing has arrived yet. Send the file to the address first, then complete the upload.")
	}
	if err != nil {
		return Item{}, err
	}
	if size != u.Bytes {
		return Item{}, wrongContent("bytes", "wrong_size", fmt.Sprintf("%d bytes have arrived, not %d.", size, u.Bytes))
	}
	sum := sha256.New()
	body := objects.NewReader(ctx, s.Objects, key, size)
	defer func() { _ = body.Close() }()
	if _, err := io.Copy(sum, body); err != nil {
		return Item{}, fmt.Errorf("reading what was uploaded: %w", err)
	}
	if u.SHA256 != nil && !bytes.Equal(u.SHA256, sum.Sum(nil)) {
		return Item{}, wrongContent("sha256", "wrong_hash", fmt.Sprintf("What has arrived has the SHA-256 %x.", sum.Sum(nil)))
	}
	// The id is the upload's, so that a repetition makes no second file.
	item := Item{ID: u.ID, WorkspaceID: u.WorkspaceID, UserID: u.UserID, SHA256: sum.Sum(nil), Bytes: u.Bytes,
		ObjectKey: objectKey(sum.Sum(nil)), FileName: u.FileName, AltText: u.AltText}
	if item.Facts, err = Inspect(body, size); err != nil {
		return Item{}, err
	}
	item, _, err = s.keep(ctx, item, Key{}, func() error { return s.Objects.Copy(ctx, key, item.ObjectKey, item.MIMEType) })
	return item, err
}

func wrongContent(field, code, message string) *post.Error {
	return &post.Error{Kind: post.Invalid, Code: "upload_mismatch", Message: "What has arrived is not what was announced. Send it again, or begin a new upload.",
		Problems: []post.Problem{{Field: field, Code: code, Message: message}}}
}
