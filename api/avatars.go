package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/account"
)

// Avatars returns pictures of accounts.
type Avatars interface {
	Get(ctx context.Context, who workspace.Principal, id uuid.UUID) ([]byte, error)
}

// GetAccountAvatar returns the picture of an account.
func (s *LinkPreviewHandler) GetAccountAvatar(
	ctx context.Context, r spec.GetAccountAvatarRequestObject,
) (spec.GetAccountAvatarResponseObject, error) {
	jpeg, err := s.Avatars.Get(ctx, principal(ctx), r.Id)
	if err != nil {
		return nil, err
	}
	return spec.GetAccountAvatar200ImagejpegResponse{Body: bytes.NewReader(jpeg), ContentLength: int64(len(jpeg))}, nil
}

// avatarPath is where the picture of an account is; nil: it has none. It changes with
// the picture, so that pages show the new one.
func avatarPath(a account.Account) *string {
	if a.AvatarURL == "" {
		return nil
	}
	version := sha256.Sum256([]byte(a.AvatarURL))
	path := "/api/v1/accounts/" + a.ID.String() + "/avatar?v=" + hex.EncodeToString(version[:4])
	return &path
}
