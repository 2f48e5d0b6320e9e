package login

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// LinkLimit is how long a login link is good.
const LinkLimit = 10 * time.Minute

// LinkStore keeps login links.
type LinkStore interface {
	PutLoginLink(ctx context.Context, user uuid.UUID, hash []byte, expires time.Time) error
}

// NewLink makes a link that logs a user in once. One made before ends.
func NewLink(ctx context.Context, s LinkStore, publicURL string, user uuid.UUID, now time.Time) (string, error) {
	secret := newSecret()
	if err := s.PutLoginLink(ctx, user, hash(secret), now.Add(LinkLimit)); err != nil {
		return "", err
	}
	return strings.TrimSuffix(publicURL, "/") + "/login/once/" + secret, nil
}

// useLink gives the user of a link that nobody has used yet.
func (s *Service) useLink(r *http.Request, secret string) (user uuid.UUID, ok bool, err error) {
	user, expires, found, err := s.store.UseLoginLink(r.Context(), hash(secret))
	return user, found && s.now().Before(expires), err
}
