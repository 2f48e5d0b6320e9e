package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/kms"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/storage/postgres"
)

const firstTokenName = "first owner"

// ensureWorkspace creates the first workspace with its owner if there is none. token is
// the new API token of the owner; it is empty if the workspace exists, unless renewToken
// replaces the existing token.
func ensureWorkspace(
	ctx context.Context, s *postgres.Store, zone string, renewToken bool,
) (owner workspace.Principal, token string, err error) {
	w, user, exists, err := s.Identity.Workspaces.FirstWorkspace(ctx)
	if err != nil {
		return workspace.Principal{}, "", err
	}
	if !exists {
		w = workspace.Workspace{ID: uuid.Must(uuid.NewV7()), Name: "Newsroom", TimeZone: zone}
		user = uuid.Must(uuid.NewV7())
	}
	ctx = audit.With(ctx, audit.Origin{Actor: audit.Operator})
	owner = workspace.Principal{WorkspaceID: w.ID, UserID: user, Role: workspace.Owner}
	t, plain := workspace.NewToken(w.ID, user, firstTokenName)
	switch {
	case !exists:
		return owner, plain, s.Identity.Workspaces.Found(ctx, w, "Owner", t)
	case renewToken:
		return owner, plain, s.Identity.Workspaces.ReplaceToken(ctx, t)
	default:
		return owner, "", nil
	}
}

func (p *Program) token() *cobra.Command {
	c := p.command("token", "create a new API token for the first owner")
	return c.run(func(ctx context.Context, _ []string) error {
		cfg, log, err := c.settings()
		if err != nil {
			return err
		}
		if cfg.DatabaseURL == "" {
			return errors.New("DATABASE_URL is not set; with `dateline up`, use --new-token instead")
		}
		s, err := postgres.Open(ctx, cfg.DatabaseURL)
		if err != nil {
			return err
		}
		defer s.Close()
		if err := s.Migrate(ctx, log); err != nil {
			return err
		}
		_, plain, err := ensureWorkspace(ctx, s, cfg.TimeZone.String(), true)
		if err == nil {
			_, err = fmt.Fprintln(p.Stdout, plain)
		}
		return err
	})
}

func (p *Program) keyset() *cobra.Command {
	group := p.group("keyset", "create the keyset that encrypts access tokens")
	c := p.command("new FILE", "create a keyset, unless the file exists")
	c.Args = arguments(cobra.ExactArgs(1))
	group.AddCommand(c.run(func(ctx context.Context, args []string) error {
		cfg, _, err := c.settings()
		if err != nil {
			return err
		}
		created, err := secret.Create(ctx, secret.Source{Path: args[0], KMS: kms.Cipher(cfg.KeysetKMS)})
		if err != nil {
			return err
		}
		message := "created " + args[0] + "; back it up: without it, the access tokens of accounts cannot be decrypted"
		if !created {
			message = args[0] + " already exists and was not changed"
		}
		_, err = fmt.Fprintln(p.Stdout, message)
		return err
	}))
	return group
}
