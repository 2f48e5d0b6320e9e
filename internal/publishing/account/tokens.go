package account

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

// tokens is the sealed content of an account.
type tokens struct {
	Access  string `json:"access"`
	Refresh string `json:"refresh,omitempty"`
}

// tokenName binds sealed tokens to their account.
func tokenName(id uuid.UUID) string { return "account/" + id.String() + "/tokens" }

func (s *Service) seal(id uuid.UUID, a network.Account) ([]byte, error) {
	raw, err := json.Marshal(tokens{Access: a.Token.Reveal(), Refresh: a.RefreshToken.Reveal()})
	if err != nil {
		return nil, err
	}
	return s.Sealer.Seal(secret.NewText(string(raw)), tokenName(id))
}

// unseal returns the tokens of an account; none when it is disconnected.
func (s *Service) unseal(a Account) (access, refresh secret.Text, err error) {
	if len(a.SealedToken) == 0 {
		return secret.Text{}, secret.Text{}, nil
	}
	plain, err := s.Sealer.Open(a.SealedToken, tokenName(a.ID))
	if err != nil {
		return secret.Text{}, secret.Text{}, err
	}
	var t tokens
	if err := json.Unmarshal([]byte(plain.Reveal()), &t); err != nil {
		return secret.Text{}, secret.Text{}, errMalformed()
	}
	return secret.NewText(t.Access), secret.NewText(t.Refresh), nil
}

// networkAccount converts an account to the form that adapters use.
func networkAccount(a Account, access, refresh secret.Text) network.Account {
	return network.Account{
		ID: a.ID.String(), BaseURL: a.BaseURL, RemoteID: a.RemoteID, Handle: a.Handle, Name: a.Name,
		Kind:  a.Kind,
		Token: access, Scopes: a.Scopes, RefreshToken: refresh, TokenExpiresAt: a.ExpiresAt,
		RefreshTokenExpiresAt: a.RefreshExpiresAt, Settings: a.Settings,
	}
}

// refreshDue returns when to renew a token: after 50 to 80 % of its remaining lifetime,
// at random, so that accounts which were connected together are not renewed together.
func refreshDue(a network.Account, now time.Time) time.Time {
	if a.RefreshToken.Empty() || a.TokenExpiresAt.IsZero() {
		return time.Time{}
	}
	left := max(a.TokenExpiresAt.Sub(now), 0)
	return now.Add(left/2 + time.Duration(rand.Float64()*0.3*float64(left))) //nolint:gosec // not a secret
}

// errMalformed means that the keys opened something that is not tokens. The
// content is not part of the message because it may be secret.
func errMalformed() error { return errors.New("the sealed tokens are not in the expected format") }
