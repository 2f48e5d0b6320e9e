package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"dateline/internal/cli/progress"
	"dateline/internal/identity/keyring"
	"dateline/internal/identity/kms"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/storage/postgres"
	"dateline/internal/storage/postgres/installation"
)

// keysetSource returns the source of the keyset.
func keysetSource(cfg *config.Config) secret.Source {
	return secret.Source{Path: cfg.Keyset, JSON: secret.NewText(cfg.KeysetJSON), KMS: kms.Cipher(cfg.KeysetKMS)}
}

// keys manages the keyset and re-encrypts values.
func (p *Program) keys() *cobra.Command {
	group := p.group("keys", "list, rotate and retire the keys that encrypt access tokens")
	for _, k := range []struct{ use, short string }{
		{"list", "list the keys and the number of values encrypted with each"},
		{"rotate", "add a new key and make it the primary key"},
		{"reencrypt", "re-encrypt all values with the primary key, without downtime"},
		{"retire", "disable the older keys, if no values are encrypted with them"},
		{"enable ID", "re-enable a retired key"},
		{"add", "add a key that is not primary yet, so that all processes can load it first"},
		{"promote ID", "make a key the primary key"},
	} {
		group.AddCommand(p.keysCommand(k.use, k.short))
	}
	return group
}

func (p *Program) keysCommand(use, short string) *cobra.Command {
	c := p.command(use, short)
	if c.Name() != use {
		c.Args = arguments(cobra.ExactArgs(1))
	}
	open := func() *progress.Line { return nil }
	if use == "reencrypt" {
		open = c.showProgress()
	}
	out := c.Flags().String("out", "", "output `file` for the new keyset, if it is given as DATELINE_KEYSET_JSON")
	return c.run(func(ctx context.Context, args []string) error {
		var id uint32
		if len(args) > 0 {
			number, err := strconv.ParseUint(args[0], 10, 32)
			if err != nil {
				return fmt.Errorf("key ID must be a number: %q; see `dateline keys list`", args[0])
			}
			id = uint32(number)
		}
		line := open()
		cfg, _, err := c.settings()
		if err != nil {
			return err
		}
		source := keysetSource(cfg)
		switch c.Name() {
		case "add":
			id, err = secret.Add(ctx, source, *out)
			return p.printResult(err, "added key %d; restart all processes, then promote it", id)
		case "rotate":
			id, err = secret.Rotate(ctx, source, *out)
			return p.printResult(err, "key %d is now the primary key; run `dateline keys reencrypt` next", id)
		case "promote":
			return p.printResult(secret.Promote(ctx, source, *out, id),
				"key %d is now the primary key; run `dateline keys reencrypt` next", id)
		case "enable":
			return p.printResult(secret.Enable(ctx, source, *out, []uint32{id}), "key %d is enabled again", id)
		default:
			return p.withKeyManager(ctx, cfg, func(k *keyring.Manager) error {
				if line != nil {
					k.OnProgress = func(done, total int) {
						line.Update("Re-encrypting", progress.State{
							Done: int64(done), Total: int64(total), Unit: "values",
						})
					}
				}
				defer line.End()
				return p.manageKeys(ctx, k, c.Name(), *out)
			})
		}
	})
}

func (p *Program) printResult(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, format+"\n", args...)
	return err
}

// withKeyManager connects to the database only.
func (p *Program) withKeyManager(ctx context.Context, cfg *config.Config, do func(*keyring.Manager) error) error {
	if cfg.DatabaseURL == "" {
		return errors.New("DATABASE_URL is not set; `dateline up` re-encrypts when it starts, and retires keys with " +
			"--retire-keys")
	}
	source := keysetSource(cfg)
	sealer, err := secret.Open(ctx, source)
	if err != nil {
		return err
	}
	s, err := postgres.Open(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(&keyring.Manager{
		Store: s.Installation.Secrets, Columns: installation.SealedColumns(), Sealer: sealer,
		Source: source,
	})
}

func (p *Program) manageKeys(ctx context.Context, k *keyring.Manager, command, out string) error {
	switch command {
	case "reencrypt":
		report, err := k.Reencrypt(ctx)
		if err != nil {
			return canceled(ctx, err, "%d values are re-encrypted; run the command again to continue",
				report.Reencrypted)
		}
		for table, n := range report.Undecryptable {
			_, _ = fmt.Fprintf(p.Stdout, "%d values of %s cannot be decrypted with this keyset\n", n, table)
		}
		return p.printResult(nil, "re-encrypted %d values", report.Reencrypted)
	case "retire":
		old, err := k.Retire(ctx, out)
		return p.printResult(err, "retired %d keys", len(old))
	}
	all, err := secret.Keys(ctx, k.Source)
	if err != nil {
		return err
	}
	counts, err := k.Counts(ctx)
	if err != nil {
		return err
	}
	for _, key := range all {
		role := "enabled"
		switch {
		case key.Primary:
			role = "primary"
		case !key.Enabled:
			role = "retired"
		}
		_, _ = fmt.Fprintf(p.Stdout, "%-12d %-8s %d values\n", key.ID, role, counts[string(key.Mark)])
		delete(counts, string(key.Mark))
	}
	for _, n := range counts {
		_, _ = fmt.Fprintf(p.Stdout, "%-12s %-8s %d values\n", "unknown", "missing", n)
	}
	return nil
}

// rotateKeys re-encrypts values with the primary key, and retires the older keys if
// requested.
func (r *running) rotateKeys(ctx context.Context, parts *parts) error {
	k := &keyring.Manager{
		Store: parts.store.Installation.Secrets, Columns: installation.SealedColumns(), Sealer: parts.sealer,
		Source: keysetSource(r.cfg),
	}
	report, err := k.Reencrypt(ctx)
	if err != nil {
		// The values are still readable.
		r.log.Warn("values could not be re-encrypted with the primary key", "error", err)
		return nil
	}
	if report.Reencrypted > 0 || len(report.Undecryptable) > 0 {
		r.log.Info("re-encrypted with the primary key", "values", report.Reencrypted, "undecryptable",
			report.Undecryptable)
	}
	if !r.retire {
		return nil
	}
	old, err := k.Retire(ctx, "")
	if err == nil {
		_, err = fmt.Fprintf(r.program.Stderr, "Retired %d keys.\n", len(old))
	}
	return err
}
