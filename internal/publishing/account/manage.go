package account

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
	"dateline/internal/infra/utm"

	"dateline/platforms/network"
)

// Edit contains the editable properties of an account; nil keeps a property.
type Edit struct {
	Default  *bool
	Label    *string            // a name in the place of the network's; empty: none
	Color    *string            // one of Colors; empty: none
	Settings map[string]*string // a nil value removes a setting
	UTM      *utm.Params
}

const (
	maxLabel        = 80
	maxSettings     = 20
	maxSettingBytes = 200
)

// Edit changes properties of an account.
func (s *Service) Edit(ctx context.Context, who workspace.Principal, id uuid.UUID, c Edit) (Account, error) {
	a, err := s.Get(ctx, who, id)
	if err != nil {
		return Account{}, err
	}
	if err := checkSettings(a.Settings, c.Settings); err != nil {
		return Account{}, err
	}
	if c.Label != nil {
		label := strings.TrimSpace(*c.Label)
		if c.Label = &label; utf8.RuneCountInString(label) > maxLabel {
			return Account{}, invalid("label", "too_long", fmt.Sprintf("A label has at most %d characters.", maxLabel))
		}
	}
	if c.Color != nil && *c.Color != "" && !slices.Contains(Colors(), *c.Color) {
		return Account{}, invalid("color", "invalid", fmt.Sprintf("%q is not a color; use one of %v.", *c.Color,
			Colors()))
	}
	if c.UTM != nil {
		if problems := c.UTM.Check("utm"); len(problems) > 0 {
			return Account{}, apperr.InvalidFields(problems...)
		}
	}
	return s.Store.EditAccount(ctx, who.WorkspaceID, id, c)
}

func checkSettings(stored map[string]string, change map[string]*string) error {
	named := regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	var problems []apperr.FieldError
	after := len(stored)
	for name, value := range change {
		_, there := stored[name]
		switch {
		case !named.MatchString(name):
			problems = append(problems, apperr.FieldError{
				Field: "settings", Code: "invalid",
				Message: "Names of settings have up to 40 lower-case letters, digits and underscores.",
			})
		case value != nil && len(*value) > maxSettingBytes:
			problems = append(problems, apperr.FieldError{
				Field: "settings." + name, Code: "too_long", Message: fmt.Sprintf("At most %d bytes.", maxSettingBytes),
			})
		case value != nil && !there:
			after++
		case value == nil && there:
			after--
		}
	}
	if after > maxSettings {
		problems = append(problems, apperr.FieldError{
			Field: "settings", Code: "too_many", Message: fmt.Sprintf("An account has at most %d settings.",
				maxSettings),
		})
	}
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	return nil
}

// Check asks the network for the account and records the result. A rejected token is
// renewed first if possible.
func (s *Service) Check(ctx context.Context, who workspace.Principal, id uuid.UUID) (Account, error) {
	for try := 1; ; try++ {
		if _, err := s.Get(ctx, who, id); err != nil {
			return Account{}, err
		}
		a, use, err := s.Open(ctx, id)
		if err != nil {
			return Account{}, err
		}
		if a.Status == Disconnected {
			return Account{}, &apperr.Error{
				Kind: apperr.KindConflict, Code: "disconnected",
				Message: "This account is disconnected. Connect it again first.",
			}
		}
		known, err := s.identify(ctx, a, use)
		if err == nil {
			a.Handle, a.Name, a.AvatarURL = known.Handle, known.Name, known.AvatarURL
			if err := s.Store.MarkAccountHealthy(ctx, a); err != nil {
				return Account{}, err
			}
			return s.Store.Account(ctx, id)
		}
		var e *network.Error
		if !errors.As(err, &e) || e.Code == network.CodeUnsupported {
			return Account{}, err
		}
		if e.Class == network.Auth && a.IsRenewable && a.Status == Connected && try == 1 {
			if r, err := s.Renew(ctx, id, a.TokenVersion); err != nil || r.Outcome == Renewed {
				if err != nil {
					return Account{}, err
				}
				continue
			}
			return s.Store.Account(ctx, id) // with the error that the renewal recorded
		}
		if err := s.recordError(ctx, a, e); err != nil {
			return Account{}, err
		}
		return s.Store.Account(ctx, id)
	}
}

func (s *Service) recordError(ctx context.Context, a Account, e *network.Error) error {
	if e.Class != network.Auth {
		return s.Store.SetAccountError(ctx, a.ID, a.TokenVersion, newLastError(e))
	}
	_, err := s.Refused(ctx, a.ID, a.TokenVersion, e)
	return err
}

// Refused records that the network rejects an account's token permanently. It returns
// false if there is a newer token, or if this was recorded before.
func (s *Service) Refused(ctx context.Context, id uuid.UUID, version int64, e *network.Error) (bool, error) {
	noted, err := s.Store.MarkNeedsReconnect(ctx, id, version, newLastError(e))
	if noted {
		s.notify()
	}
	return noted, err
}

func newLastError(e *network.Error) LastError {
	return LastError{Class: e.Class, Code: e.Code, Message: e.Message}
}

// identify asks the network for the current properties of the account.
func (s *Service) identify(ctx context.Context, a Account, use network.Account) (network.Account, error) {
	adapter, ok := s.Connectors.Get(a.Network)
	if !ok {
		return network.Account{}, apperr.NotFound("network")
	}
	if i, ok := adapter.(network.Identifier); ok {
		known, err := i.Identify(ctx, use)
		if err == nil && known.RemoteID != a.RemoteID {
			err = identityMismatch(a, known.Handle)
		}
		return known, err
	}
	connector, ok := s.Connectors.Connector(a.Network)
	if !ok {
		return network.Account{}, &apperr.Error{
			Kind: apperr.KindConflict, Code: "cannot_be_asked",
			Message: "This network cannot check whether an account is still connected. The next post will show it.",
		}
	}
	found, err := connector.Accounts(ctx, use)
	if err != nil {
		return network.Account{}, err
	}
	for _, one := range found {
		if one.RemoteID == a.RemoteID {
			return one, nil
		}
	}
	return network.Account{}, identityMismatch(a, "another account")
}

func identityMismatch(a Account, came string) error {
	return &network.Error{
		Class: network.Auth, Code: "other_identity",
		Message: fmt.Sprintf("The token of %s belongs to %s now. Connect the account again.", a.Handle, came),
	}
}

// DisconnectResult is the result of disconnecting an account.
type DisconnectResult struct {
	Account Account
	Revoked bool            // the network revoked the token; otherwise it was only deleted locally
	Advice  message.Message // what to do if it was not revoked
}

const revokeTimeout = 15 * time.Second

// Disconnect revokes an account's tokens and deletes them, even if the network cannot
// be reached. Scheduled posts of the account stay. Those that become due wait as dead
// letters and are published when the account is reconnected.
func (s *Service) Disconnect(ctx context.Context, who workspace.Principal, id uuid.UUID) (DisconnectResult, error) {
	if _, err := s.Get(ctx, who, id); err != nil {
		return DisconnectResult{}, err
	}
	a, use, err := s.Open(ctx, id)
	if err != nil && a.ID == uuid.Nil {
		return DisconnectResult{}, err
	}
	// A token that cannot be unsealed can still be deleted.
	opened := err == nil
	if err := s.Store.DisconnectAccount(ctx, a, who.Actor()); err != nil {
		return DisconnectResult{}, err
	}
	s.notify()
	out := DisconnectResult{
		Advice: message.New("revoke_at_network",
			"The network could not be reached. Revoke Dateline's access in the account's settings at the network."),
	}
	switch {
	case a.Status == Disconnected:
		out.Advice = message.Message{}
	case opened && s.revoke(context.WithoutCancel(ctx), a, use):
		out.Revoked, out.Advice = true, message.Message{}
	}
	out.Account, err = s.Store.Account(ctx, id)
	return out, err
}

// revoke revokes the tokens at the network.
func (s *Service) revoke(ctx context.Context, a Account, use network.Account) bool {
	adapter, _ := s.Connectors.Get(a.Network)
	revoker, ok := adapter.(network.Revoker)
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	app, err := s.appOf(ctx, a)
	if err == nil {
		err = revoker.Revoke(ctx, app, use)
	}
	if err != nil {
		e := network.AsError(err)
		s.log().Warn("tokens were not revoked", "account_id", a.ID, "network", a.Network, "class", e.Class, "code",
			e.Code)
	}
	return err == nil
}
