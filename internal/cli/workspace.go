package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"dateline/internal/embedded"
	"dateline/internal/identity/audit"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/config"
	"dateline/internal/storage/postgres"
)

const firstTokenName = "first owner"

// ensureWorkspace creates the first workspace with its owner if there is none. token is
// the new API token of the owner; it is empty if the workspace exists, unless renewToken
// replaces the existing token.
func ensureWorkspace(ctx context.Context, s *postgres.Store, zone string, renewToken bool) (owner workspace.Principal, token string, err error) {
	w, user, exists, err := s.FirstWorkspace(ctx)
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
		return owner, plain, s.Found(ctx, w, "Owner", t)
	case renewToken:
		return owner, plain, s.ReplaceToken(ctx, t)
	default:
		return owner, "", nil
	}
}

func (p *Program) token(ctx context.Context, args []string) error {
	cfg, log, err := p.settings("token", args)
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
}

func (p *Program) keyset(ctx context.Context, args []string) error {
	if len(args) != 2 || args[0] != "new" {
		_, _ = fmt.Fprintln(p.Stderr, "Usage: dateline keyset new FILE")
		return errUsage
	}
	cfg, err := config.Load("", p.Environ)
	if err != nil {
		return err
	}
	created, err := secret.Create(ctx, secret.Source{Path: args[1], KMS: cfg.KeysetKMS})
	if err != nil {
		return err
	}
	message := "created " + args[1] + "; back it up: without it, the access tokens of accounts cannot be decrypted"
	if !created {
		message = args[1] + " already exists and was not changed"
	}
	_, err = fmt.Fprintln(p.Stdout, message)
	return err
}

func (p *Program) buildTemporald(ctx context.Context, args []string) error {
	set, _ := p.flags("build-temporald")
	out := set.String("o", "bin/temporald", "output `file`")
	source := set.String("source", "temporald", "source `directory` of temporald")
	if err := p.parse(set, args); err != nil {
		return err
	}
	return embedded.BuildTemporald(ctx, *source, *out, p.Stderr)
}
