package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"dateline/internal/identity/keyring"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/storage/postgres"
)

// keysetOf says where the keyset is.
func keysetOf(cfg *config.Config) secret.Source {
	return secret.Source{Path: cfg.Keyset, JSON: secret.NewText(cfg.KeysetJSON), KMS: cfg.KeysetKMS}
}

const keysUsage = `Usage: dateline keys <command> [flags]

  list          the keys, and how much is sealed with each
  rotate        add a new key that seals from now on
  reseal        seal anew what is sealed with older keys, while the service runs
  retire        make the older keys open nothing any more, when nothing is sealed with them
  enable ID     take that back
  add           add a key that does not seal yet, for all processes to learn first
  promote ID    make a key the one that seals

Flags: --config FILE of settings; --out FILE for the new keyset where it is given as text
(DATELINE_KEYSET_JSON).
`

// keys changes the keyset and what it has sealed.
func (p *Program) keys(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		_, err := io.WriteString(p.Stderr, keysUsage)
		return err
	}
	what, args := args[0], args[1:]
	var id uint32
	if what == "enable" || what == "promote" {
		if len(args) == 0 {
			_, _ = io.WriteString(p.Stderr, keysUsage)
			return errUsage
		}
		number, err := strconv.ParseUint(args[0], 10, 32)
		if err != nil {
			return fmt.Errorf("%q is no id of a key, see `dateline keys list`", args[0])
		}
		id, args = uint32(number), args[1:]
	}
	set, file := p.flags("keys " + what)
	out := set.String("out", "", "`file` for the new keyset where it is given as text")
	cfg, _, err := p.settingsWith(set, file, args)
	if err != nil {
		return err
	}
	source := keysetOf(cfg)
	switch what {
	case "add":
		id, err = secret.Add(ctx, source, *out)
		return p.told(err, "added key %d; when every process knows it, promote it", id)
	case "rotate":
		id, err = secret.Rotate(ctx, source, *out)
		return p.told(err, "key %d seals from now on; run `dateline keys reseal` next", id)
	case "promote":
		return p.told(secret.Promote(ctx, source, *out, id), "key %d seals from now on; run `dateline keys reseal` next", id)
	case "enable":
		return p.told(secret.Enable(ctx, source, *out, []uint32{id}), "key %d opens again what it sealed", id)
	case "list", "reseal", "retire":
		return p.withKeeper(ctx, cfg, func(k *keyring.Keeper) error { return p.keep(ctx, k, what, *out) })
	}
	_, _ = io.WriteString(p.Stderr, keysUsage)
	return errUsage
}

func (p *Program) told(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, format+"\n", args...)
	return err
}

// withKeeper connects to the database alone.
func (p *Program) withKeeper(ctx context.Context, cfg *config.Config, do func(*keyring.Keeper) error) error {
	if cfg.DatabaseURL == "" {
		return errors.New("DATABASE_URL is not set; `dateline up` reseals at its start, and retires keys with --retire-keys")
	}
	source := keysetOf(cfg)
	sealer, err := secret.Open(ctx, source)
	if err != nil {
		return err
	}
	s, err := postgres.Open(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(&keyring.Keeper{Store: s, Columns: postgres.SealedColumns(), Sealer: sealer, Source: source})
}

func (p *Program) keep(ctx context.Context, k *keyring.Keeper, what, out string) error {
	switch what {
	case "reseal":
		report, err := k.Reseal(ctx)
		if err != nil {
			return err
		}
		for table, n := range report.Stuck {
			_, _ = fmt.Fprintf(p.Stdout, "%d values of %s open with no key of this keyset\n", n, table)
		}
		return p.told(nil, "sealed %d values anew", report.Resealed)
	case "retire":
		old, err := k.Retire(ctx, out)
		return p.told(err, "retired %d keys", len(old))
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
		role := "opens"
		switch {
		case key.Primary:
			role = "seals"
		case !key.Enabled:
			role = "retired"
		}
		_, _ = fmt.Fprintf(p.Stdout, "%-12d %-8s %d values\n", key.ID, role, counts[string(key.Mark)])
		delete(counts, string(key.Mark))
	}
	for _, n := range counts {
		_, _ = fmt.Fprintf(p.Stdout, "%-12s %-8s %d values\n", "unknown", "lost", n)
	}
	return nil
}

// tidyKeys seals anew what older keys sealed, and retires them when that was
// asked for: `up` alone knows its database.
func (r *running) tidyKeys(ctx context.Context, parts *parts) error {
	k := &keyring.Keeper{Store: parts.store, Columns: postgres.SealedColumns(), Sealer: parts.sealer, Source: keysetOf(r.cfg)}
	report, err := k.Reseal(ctx)
	if err != nil {
		// Nothing stops working for it.
		r.log.Warn("what older keys sealed stays as it is", "error", err)
		return nil
	}
	if report.Resealed > 0 || len(report.Stuck) > 0 {
		r.log.Info("sealed with the newest key", "values", report.Resealed, "lost", report.Stuck)
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
