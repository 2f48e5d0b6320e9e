package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dateline/internal/embedded"
	"dateline/internal/identity/login"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/config"
	"dateline/internal/storage/postgres"
)

// newLogin creates the login service.
func newLogin(cfg *config.Config, s *postgres.Store, now func() time.Time, log *slog.Logger) (*login.Service, error) {
	o := login.Options{
		Store: s.Identity.Logins, PublicURL: cfg.PublicURL, Log: log, Now: now,
		Join: login.Joining{Domains: cfg.OIDCAutoJoin, Role: workspace.Role(cfg.OIDCAutoJoinRole)},
	}
	if cfg.OIDCIssuer != "" {
		o.Provider = &login.Provider{
			Issuer: cfg.OIDCIssuer, ClientID: cfg.OIDCClientID,
			ClientSecret: secret.NewText(cfg.OIDCClientSecret),
			Scopes:       cfg.OIDCScopes, Label: cfg.OIDCName,
		}
		if u, err := url.Parse(cfg.OIDCIssuer); err == nil && u.Scheme != "https" && !login.Loopback(u.Hostname()) {
			log.Warn("the OpenID provider uses plain http: an attacker in the network can log in as anyone", "setting",
				"OIDC_ISSUER")
		}
	}
	return login.New(o)
}

// loginLink creates a login link for the first owner. It stores the public URL, because
// only the listening process knows its port.
func (p *parts) loginLink(ctx context.Context, owner uuid.UUID) (string, error) {
	if err := p.store.Identity.Logins.NotePublicURL(ctx, p.cfg.PublicURL); err != nil {
		return "", err
	}
	return login.NewLink(ctx, p.store.Identity.Logins, p.cfg.PublicURL, owner, p.clock.Now())
}

// loginLink prints a login link for a running installation.
func (p *Program) loginLink() *cobra.Command {
	c := p.command("login-link", "print a link that logs the first owner in to the dashboard, once")
	return c.run(func(ctx context.Context, _ []string) error {
		cfg, _, err := c.settings()
		if err != nil {
			return err
		}
		database := cfg.DatabaseURL
		if database == "" {
			if database, err = embedded.RunningDatabase(cfg.DataDir); err != nil {
				return err
			}
		}
		s, err := postgres.Open(ctx, database)
		if err != nil {
			return err
		}
		defer s.Close()
		_, owner, found, err := s.Identity.Workspaces.FirstWorkspace(ctx)
		if err != nil {
			return err
		}
		if !found {
			return errors.New("there is no workspace yet; create one with `dateline token`")
		}
		base, err := s.Identity.Logins.PublicURL(ctx)
		if err != nil {
			return err
		}
		if base == "" {
			base = cfg.PublicURL
		}
		now, err := s.Time(ctx)
		if err != nil {
			return err
		}
		link, err := login.NewLink(ctx, s.Identity.Logins, base, owner, now)
		if err == nil {
			_, err = fmt.Fprintln(p.Stdout, link)
		}
		return err
	})
}
