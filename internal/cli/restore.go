package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"dateline/internal/cli/progress"
	"dateline/internal/embedded"
	"dateline/internal/identity/keyring"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/infra/redisclient"
	"dateline/internal/ops/backup"
	"dateline/internal/storage/postgres"
	"dateline/internal/storage/postgres/installation"
)

// restoreCommand is an execution of `dateline restore`.
type restoreCommand struct {
	program    *Program
	cfg        *config.Config
	log        *slog.Logger
	archive    *backup.Archive
	holdPolicy backup.Hold
	replace    bool
	flushRedis bool
	passphrase secret.Text
	line       *progress.Line
}

// restore loads a backup into an empty database.
func (p *Program) restore() *cobra.Command {
	c := p.command("restore", "restore a backup into an empty database; posts that may already be published are held")
	from := c.Flags().String("from", "", "`file` written by 'dateline backup'; - for standard input")
	holdPolicy := c.Flags().String("hold", string(backup.HoldDue),
		"`which` scheduled posts are held for a manual decision, because they may already be published: due (those "+
			"due before now), all, or reconcile (search for the due ones at their network first)")
	replace := c.Flags().Bool("replace", false, "replace the existing data in the database")
	flush := c.Flags().Bool("flush-redis", false,
		"flush the Redis database of REDIS_URL, which is rebuilt from the restored data")
	passphrase := c.Flags().String("passphrase-file", "", "`file` with the passphrase of the keyset in the backup")
	open := c.showProgress()
	return c.run(func(ctx context.Context, _ []string) error {
		if *from == "" {
			return errors.New("--from is required: dateline restore --from FILE")
		}
		line := open()
		cfg, log, err := c.settings()
		if err != nil {
			return err
		}
		r := &restoreCommand{
			program: p, cfg: cfg, log: log, holdPolicy: backup.Hold(*holdPolicy), replace: *replace,
			flushRedis: *flush, line: line,
		}
		if *passphrase != "" {
			if r.passphrase, err = readPassphrase(*passphrase); err != nil {
				return err
			}
		}
		// Opened before root privileges are dropped, because it may be readable by root only.
		input := os.Stdin
		if *from != "-" {
			if input, err = os.Open(*from); err != nil {
				return err
			}
			defer func() { _ = input.Close() }()
		}
		if r.archive, err = backup.Open(line.Reader(ctx, "Restoring", input, sizeOf(input))); err != nil {
			return err
		}
		defer r.archive.Close()
		if cfg.DatabaseURL != "" {
			return r.run(ctx)
		}
		return r.restoreLocally(ctx)
	})
}

// restoreLocally starts the local Postgres and S3 server and restores into them. It
// fails while `dateline up` is running.
func (r *restoreCommand) restoreLocally(ctx context.Context) (err error) {
	local := *r.cfg
	local.TemporalAddress, local.RedisURL = "not needed", "not needed"
	host, err := embedded.Prepare(ctx, &local, r.program.Stderr)
	if err != nil {
		return err
	}
	engines, err := host.Start(ctx, r.log, nil)
	if err != nil {
		host.Close()
		return err
	}
	defer func() { err = errors.Join(err, stopEngines(engines)) }()
	r.cfg = engines.Apply(&local)
	r.cfg.TemporalAddress, r.cfg.RedisURL = "", ""
	if err := r.run(ctx); err != nil {
		return err
	}
	return host.RemoveRebuildable()
}

func (r *restoreCommand) run(ctx context.Context) error {
	cache, err := r.openCache(ctx)
	if err != nil {
		return err
	}
	if err := r.restoreKeyset(ctx); err != nil {
		return err
	}
	target := backup.Target{Database: r.cfg.DatabaseURL, Hold: r.holdPolicy, Replace: r.replace, Log: r.log}
	bucket, err := r.openBucket(ctx)
	if err != nil {
		return err
	}
	if bucket != nil {
		target.Bucket = bucket
	}
	done, err := r.archive.Restore(ctx, target)
	at := r.line.End()
	if err != nil {
		return canceled(ctx, err, "nothing was restored (%s of the backup were read); run the command again", at)
	}
	ctx = context.WithoutCancel(ctx) // the data is restored
	if cache != nil {
		if err := flushRedis(ctx, cache); err != nil {
			return fmt.Errorf("the data is restored, but Redis could not be flushed; flush it before you start "+
				"Dateline: %w", err)
		}
	}
	r.printResult(done)
	return r.printProblems(ctx, bucket)
}

// openCache opens the Redis that must be flushed, because its counts belong to another
// state of the database. It returns nil if none is configured.
func (r *restoreCommand) openCache(ctx context.Context) (redis.UniversalClient, error) {
	if r.cfg.RedisURL == "" {
		return nil, nil //nolint:nilnil // Redis is optional here
	}
	client, err := redisclient.Open(r.cfg.RedisURL, 0)
	if err != nil {
		return nil, err
	}
	keys, err := client.DBSize(ctx).Result()
	if err != nil {
		return nil, fmt.Errorf("connecting to REDIS_URL: %w", err)
	}
	if keys > 0 && !r.flushRedis {
		return nil, fmt.Errorf("the Redis database of REDIS_URL has %d keys that do not match the backup; use an "+
			"empty one, or flush it with --flush-redis", keys)
	}
	return client, nil
}

func flushRedis(ctx context.Context, client redis.UniversalClient) error {
	if cluster, ok := client.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, one *redis.Client) error {
			return one.FlushDB(ctx).Err()
		})
	}
	return client.FlushDB(ctx).Err()
}

// restoreKeyset restores the keyset of the backup, if it contains one.
func (r *restoreCommand) restoreKeyset(ctx context.Context) error {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(r.program.Stderr, format+"\n", args...) }
	switch {
	case r.archive.Sealed == nil:
		return nil
	case r.passphrase.Empty():
		say("The backup contains a keyset; use --passphrase-file to restore it. The existing keyset is used.")
		return nil
	}
	raw, err := r.archive.OpenKeyset(r.passphrase)
	if err != nil {
		return err
	}
	written, err := secret.Import(ctx, keysetSource(r.cfg), raw)
	if err == nil && written {
		say("Keyset written to %s.", r.cfg.Keyset)
	}
	return err
}

// openBucket opens the bucket, if one is configured.
func (r *restoreCommand) openBucket(ctx context.Context) (backup.Bucket, error) {
	if r.cfg.S3Endpoint == "" {
		return nil, nil //nolint:nilnil // the bucket is optional here
	}
	b, err := openBucket(ctx, r.cfg)
	if err != nil {
		return nil, err
	}
	return b, b.EnsureBucket(ctx)
}

func (r *restoreCommand) printResult(done backup.Restored) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(r.program.Stdout, format+"\n", args...) }
	m := r.archive.Manifest
	say("Restored %d rows and %d objects, as of %s. Later changes are lost.", done.Rows, done.Objects,
		m.TakenAt.Format(time.RFC3339))
	say("%d posts are scheduled and will be published automatically. Review them before you start Dateline: posts "+
		"that were canceled, changed or published early since the backup are scheduled again.", done.Scheduled)
	if done.Held > 0 {
		say("%d posts are held, because they were due before now and may already be published. Confirm or resend "+
			"each of them (dead letters with the reason uncertain).", done.Held)
	}
	if done.Reconciled > 0 {
		say("%d posts were due before now. Dateline searches for each at its network before it sends it.",
			done.Reconciled)
	}
	say("%d API tokens are valid again. All dashboard sessions were revoked.", done.Tokens)
}

// printProblems prints what the operator must fix.
func (r *restoreCommand) printProblems(ctx context.Context, bucket backup.Bucket) error {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(r.program.Stdout, format+"\n", args...) }
	if bucket != nil {
		n, some, err := backup.Missing(ctx, r.cfg.DatabaseURL, bucket)
		if err != nil {
			return err
		}
		if n > 0 {
			say("%d media files are missing in the bucket, such as %v. Restore them before their posts are due.", n,
				some)
		}
	}
	s, err := postgres.Open(ctx, r.cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer s.Close()
	lost, err := (&keyring.Manager{
		Store: s.Installation.Secrets, Columns: installation.SealedColumns(),
		Source: keysetSource(r.cfg),
	}).
		CountUndecryptable(ctx)
	if err != nil {
		say("The keyset cannot be read (%s). Restore the keyset with the keys %v before you start Dateline.", err,
			r.archive.Manifest.KeyIDs)
		return nil
	}
	if lost > 0 {
		say("%d secrets cannot be decrypted with this keyset. Restore the keyset with the keys %v, or reconnect "+
			"the accounts.", lost, r.archive.Manifest.KeyIDs)
	}
	return nil
}
