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

// found makes sure that there is a workspace with an owner. token is the
// owner's new API token: when the workspace was made just now, or when renew
// asks for a new one; the old one is revoked then.
func found(ctx context.Context, s *postgres.Store, zone string, renew bool) (owner workspace.Principal, token string, err error) {
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
	case renew:
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
		return errors.New("DATABASE_URL is not set; for `dateline up`, start it with --new-token instead")
	}
	s, err := postgres.Open(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Migrate(ctx, log); err != nil {
		return err
	}
	_, plain, err := found(ctx, s, cfg.TimeZone.String(), true)
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
	said := "made " + args[1] + "; keep a copy of it somewhere safe: without it the tokens of connected accounts cannot be opened"
	if !created {
		said = args[1] + " is there already and was left as it is"
	}
	_, err = fmt.Fprintln(p.Stdout, said)
	return err
}

func (p *Program) buildTemporald(ctx context.Context, args []string) error {
	set, _ := p.flags("build-temporald")
	out := set.String("o", "bin/temporald", "where the program goes")
	source := set.String("source", "temporald", "directory of the module temporald")
	if err := p.parse(set, args); err != nil {
		return err
	}
	return embedded.BuildTemporald(ctx, *source, *out, p.Stderr)
}
