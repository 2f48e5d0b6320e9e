package account

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
)

// Avatar is a copy of an account's picture at its network.
type Avatar struct {
	URL       string
	Image     []byte // JPEG; empty: it could not be fetched
	FetchedAt time.Time
}

// AvatarStore stores pictures of accounts.
type AvatarStore interface {
	AccountsByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) ([]Account, error)
	Avatar(ctx context.Context, id uuid.UUID) (Avatar, error)
	SaveAvatar(ctx context.Context, id uuid.UUID, a Avatar) error
}

// ImageFetcher fetches an image from a public address and makes it small.
type ImageFetcher interface {
	Image(ctx context.Context, address string, maxWidth int) ([]byte, error)
}

// Avatars serves pictures of accounts. Networks' addresses of pictures expire, so each
// picture is copied once.
type Avatars struct {
	Store  AvatarStore
	Images ImageFetcher
}

const (
	avatarWidth    = 128 // pixels
	avatarTimeout  = 5 * time.Second
	avatarInterval = time.Hour // between two attempts to fetch a picture
)

// Get returns the picture of an account.
func (s *Avatars) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) ([]byte, error) {
	found, err := s.Store.AccountsByID(ctx, who.WorkspaceID, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, apperr.NotFound("account")
	}
	a := found[0]
	stored, err := s.Store.Avatar(ctx, id)
	if err != nil {
		return nil, err
	}
	if a.AvatarURL != "" && stored.URL != a.AvatarURL && time.Since(stored.FetchedAt) > avatarInterval {
		limited, cancel := context.WithTimeout(ctx, avatarTimeout)
		defer cancel()
		// Until it can be fetched, the one before is shown.
		if image, err := s.Images.Image(limited, a.AvatarURL, avatarWidth); err == nil {
			stored = Avatar{URL: a.AvatarURL, Image: image}
		}
		if err := s.Store.SaveAvatar(ctx, id, stored); err != nil {
			return nil, err
		}
	}
	if len(stored.Image) == 0 {
		return nil, apperr.NotFound("picture")
	}
	return stored.Image, nil
}
