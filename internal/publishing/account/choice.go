package account

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"

	"dateline/platforms/network"
)

const choiceTTL = 15 * time.Minute

func choiceName(id uuid.UUID) string { return "choice/" + id.String() }

// Choice is a login that can post as several accounts. A user chooses which of them to
// connect.
type Choice struct {
	ID        uuid.UUID
	Network   string
	Accounts  []Candidate
	ExpiresAt time.Time
	// Key authorizes the browser that returned from the network to choose without an
	// API token. Only its hash is stored.
	Key string
}

// Candidate is an account that can be connected.
type Candidate struct {
	RemoteID string
	Handle   string
	Name     string
	Kind     network.Kind
}

// sealedCandidate is the sealed form of a candidate with its tokens.
type sealedCandidate struct {
	BaseURL          string            `json:"base_url,omitempty"`
	RemoteID         string            `json:"remote_id"`
	Handle           string            `json:"handle"`
	Name             string            `json:"name"`
	Kind             network.Kind      `json:"kind,omitempty"`
	Scopes           []string          `json:"scopes,omitempty"`
	Settings         map[string]string `json:"settings,omitempty"`
	Tokens           tokens            `json:"tokens"`
	ExpiresAt        time.Time         `json:"expires_at,omitzero"`
	RefreshExpiresAt time.Time         `json:"refresh_expires_at,omitzero"`
}

// saveChoice stores accounts for a choice.
func (s *Service) saveChoice(
	ctx context.Context, who workspace.Principal, networkName, app string, found []network.Account,
) (*Choice, error) {
	c := &Choice{
		ID: uuid.Must(uuid.NewV7()), Network: networkName, ExpiresAt: time.Now().Add(choiceTTL).UTC(),
		Key: randomText(),
	}
	var list []sealedCandidate
	for _, a := range found {
		c.Accounts = append(c.Accounts, Candidate{RemoteID: a.RemoteID, Handle: a.Handle, Name: a.Name, Kind: a.Kind})
		list = append(list, sealedCandidate{
			BaseURL: a.BaseURL, RemoteID: a.RemoteID, Handle: a.Handle, Name: a.Name,
			Kind: a.Kind, Scopes: a.Scopes,
			Settings: a.Settings, Tokens: tokens{Access: a.Token.Reveal(), Refresh: a.RefreshToken.Reveal()},
			ExpiresAt: a.TokenExpiresAt, RefreshExpiresAt: a.RefreshTokenExpiresAt,
		})
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	sealed, err := s.Sealer.Seal(secret.NewText(string(raw)), choiceName(c.ID))
	if err != nil {
		return nil, err
	}
	return c, s.Store.SaveChoice(ctx, PendingChoice{
		ID: c.ID, WorkspaceID: who.WorkspaceID, UserID: who.UserID,
		Network: networkName, App: app,
		KeyHash: hashOf(c.Key), SealedAccounts: sealed, ExpiresAt: c.ExpiresAt,
	})
}

// Choice returns an open choice of the workspace.
func (s *Service) Choice(ctx context.Context, who workspace.Principal, id uuid.UUID) (Choice, error) {
	pending, list, err := s.pending(ctx, id)
	if err == nil && pending.WorkspaceID != who.WorkspaceID {
		err = ChoiceNotFound()
	}
	if err != nil {
		return Choice{}, err
	}
	return choiceOf(pending, list), nil
}

// ChoiceWithKey is Choice for the browser that returned from the network.
func (s *Service) ChoiceWithKey(ctx context.Context, id uuid.UUID, key string) (Choice, error) {
	pending, list, err := s.pendingWithKey(ctx, id, key)
	if err != nil {
		return Choice{}, err
	}
	c := choiceOf(pending, list)
	c.Key = key
	return c, nil
}

func choiceOf(pending PendingChoice, list []sealedCandidate) Choice {
	c := Choice{ID: pending.ID, Network: pending.Network, ExpiresAt: pending.ExpiresAt}
	for _, k := range list {
		c.Accounts = append(c.Accounts, Candidate{RemoteID: k.RemoteID, Handle: k.Handle, Name: k.Name, Kind: k.Kind})
	}
	return c
}

// Choose connects the accounts of a choice that remoteIDs name.
func (s *Service) Choose(
	ctx context.Context, who workspace.Principal, id uuid.UUID, remoteIDs []string,
) ([]Account, error) {
	pending, list, err := s.pending(ctx, id)
	if err == nil && pending.WorkspaceID != who.WorkspaceID {
		err = ChoiceNotFound()
	}
	if err != nil {
		return nil, err
	}
	return s.choose(ctx, who, pending, list, remoteIDs)
}

// ChooseWithKey is Choose for the browser that returned from the network.
func (s *Service) ChooseWithKey(ctx context.Context, id uuid.UUID, key string, remoteIDs []string) ([]Account, error) {
	pending, list, err := s.pendingWithKey(ctx, id, key)
	if err != nil {
		return nil, err
	}
	return s.choose(ctx, workspace.Principal{WorkspaceID: pending.WorkspaceID, UserID: pending.UserID}, pending, list,
		remoteIDs)
}

func (s *Service) choose(
	ctx context.Context, who workspace.Principal, pending PendingChoice, list []sealedCandidate, remoteIDs []string,
) ([]Account, error) {
	if len(remoteIDs) == 0 {
		return nil, invalid("remote_ids", "required", "Choose at least one account.")
	}
	var chosen []sealedCandidate
	for _, id := range remoteIDs {
		at := slices.IndexFunc(list, func(k sealedCandidate) bool { return k.RemoteID == id })
		if at < 0 {
			return nil, invalid("remote_ids", "unknown", "One of these accounts is not part of this choice.")
		}
		chosen = append(chosen, list[at])
	}
	var saved []Account
	for _, k := range chosen {
		a, err := s.save(ctx, who, pending.Network, pending.App,
			network.Account{
				BaseURL: k.BaseURL, RemoteID: k.RemoteID, Handle: k.Handle,
				Name: k.Name, Kind: k.Kind, Scopes: k.Scopes, Settings: k.Settings,
				Token: secret.NewText(k.Tokens.Access), RefreshToken: secret.NewText(k.Tokens.Refresh),
				TokenExpiresAt: k.ExpiresAt, RefreshTokenExpiresAt: k.RefreshExpiresAt,
			})
		if err != nil {
			return nil, err // the choice stays open; choosing again is idempotent
		}
		saved = append(saved, a)
	}
	return saved, s.Store.DeleteChoice(ctx, pending.ID)
}

func (s *Service) pending(ctx context.Context, id uuid.UUID) (PendingChoice, []sealedCandidate, error) {
	pending, err := s.Store.Choice(ctx, id)
	if err != nil {
		return PendingChoice{}, nil, err
	}
	plain, err := s.Sealer.Open(pending.SealedAccounts, choiceName(id))
	if err != nil {
		return PendingChoice{}, nil, err
	}
	var list []sealedCandidate
	if json.Unmarshal([]byte(plain.Reveal()), &list) != nil {
		return PendingChoice{}, nil, errMalformed()
	}
	return pending, list, nil
}

func (s *Service) pendingWithKey(
	ctx context.Context, id uuid.UUID, key string,
) (PendingChoice, []sealedCandidate, error) {
	pending, list, err := s.pending(ctx, id)
	if err == nil && subtle.ConstantTimeCompare(pending.KeyHash, hashOf(key)) != 1 {
		err = ChoiceNotFound()
	}
	if err != nil {
		return PendingChoice{}, nil, err
	}
	return pending, list, nil
}

// ChoiceNotFound is the error for a choice that does not exist, was made, or expired.
func ChoiceNotFound() error {
	return &apperr.Error{
		Kind: apperr.KindNotFound, Code: "choice_not_found",
		Message: "The choice was already made or has expired after 15 minutes. Connect the account again.",
	}
}
