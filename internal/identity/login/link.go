package login

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// LinkLimit is the validity of a login link.
const LinkLimit = 10 * time.Minute

// LinkStore stores login links.
type LinkStore interface {
	PutLoginLink(ctx context.Context, user uuid.UUID, hash []byte, expires time.Time) error
}

// NewLink creates a one-time login link and invalidates the previous one.
func NewLink(ctx context.Context, s LinkStore, publicURL string, user uuid.UUID, now time.Time) (string, error) {
	secret := newSecret()
	if err := s.PutLoginLink(ctx, user, hash(secret), now.Add(LinkLimit)); err != nil {
		return "", err
	}
	return strings.TrimSuffix(publicURL, "/") + "/login/once/" + secret, nil
}

// useLink invalidates a link and returns its user.
func (s *Service) useLink(r *http.Request, secret string) (user uuid.UUID, ok bool, err error) {
	user, expires, found, err := s.store.UseLoginLink(r.Context(), hash(secret))
	return user, found && s.now().Before(expires), err
}
