package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/embedded"
	"dateline/internal/identity/keyring"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/ops/backup"
	"dateline/internal/storage/postgres"
)

// restoring is one run of `dateline restore`.
type restoring struct {
	program    *Program
	cfg        *config.Config
	log        *slog.Logger
	archive    *backup.Archive
	hold       backup.Hold
	replace    bool
	flushRedis bool
	passphrase secret.Text
}

// restore loads an archive into an empty database.
func (p *Program) restore(ctx context.Context, args []string) error {
	set, file := p.flags("restore")
	from := set.String("from", "", "`file` that `dateline backup` wrote; - for standard input")
	hold := set.String("hold", string(backup.HoldDue), "which waiting posts wait for a person, because they may be out: `due` before now, all, or look: those due are looked for at their network first")
	replace := set.Bool("replace", false, "give up what the database has")
	flush := set.Bool("flush-redis", false, "empty the database of REDIS_URL, which is filled in again from what is restored")
	passphrase := set.String("passphrase-file", "", "`file` with the passphrase of the keyset in the backup")
	cfg, log, err := p.settingsWith(set, file, args)
	if err != nil {
		return err
	}
	if *from == "" {
		return errors.New("name the backup: dateline restore --from FILE")
	}
	r := &restoring{program: p, cfg: cfg, log: log, hold: backup.Hold(*hold), replace: *replace, flushRedis: *flush}
	if *passphrase != "" {
		if r.passphrase, err = readPassphrase(*passphrase); err != nil {
			return err
		}
	}
	// Opened before root is given up: it may lie where nobody else reads.
	input := os.Stdin
	if *from != "-" {
		if input, err = os.Open(*from); err != nil {
			return err
		}
		defer func() { _ = input.Close() }()
	}
	if r.archive, err = backup.Open(input); err != nil {
		return err
	}
	defer r.archive.Close()
	if cfg.DatabaseURL != "" {
		return r.run(ctx)
	}
	return r.onThisMachine(ctx)
}

// onThisMachine starts the engines that hold what is restored, and leaves out
// what is made anew from them. It fails while a `dateline up` runs.
func (r *restoring) onThisMachine(ctx context.Context) (err error) {
	alone := *r.cfg
	alone.TemporalAddress, alone.RedisURL = "not needed", "not needed"
	host, err := embedded.Prepare(ctx, &alone, r.program.Stderr)
	if err != nil {
		return err
	}
	engines, err := host.Start(ctx, r.log, nil)
	if err != nil {
		host.Close()
		return err
	}
	defer func() { err = errors.Join(err, stopEngines(engines)) }()
	r.cfg = engines.Apply(&alone)
	r.cfg.TemporalAddress, r.cfg.RedisURL = "", ""
	if err := r.run(ctx); err != nil {
		return err
	}
	return host.ForgetRebuilt()
}

func (r *restoring) run(ctx context.Context) error {
	cache, err := r.cache(ctx)
	if err != nil {
		return err
	}
	if err := r.keyset(ctx); err != nil {
		return err
	}
	target := backup.Target{Database: r.cfg.DatabaseURL, Hold: r.hold, Replace: r.replace, Log: r.log}
	bucket, err := r.bucket(ctx)
	if err != nil {
		return err
	}
	if bucket != nil {
		target.Bucket = bucket
	}
	done, err := r.archive.Restore(ctx, target)
	if err != nil {
		return err
	}
	if cache != nil {
		if err := empty(ctx, cache); err != nil {
			return fmt.Errorf("all is restored, but Redis could not be emptied; do it before anything starts: %w", err)
		}
	}
	r.tell(done)
	return r.look(ctx, bucket)
}

// cache opens a Redis that is to be emptied: what it counted belongs to another
// state of the database. nil: there is none.
func (r *restoring) cache(ctx context.Context) (redis.UniversalClient, error) {
	if r.cfg.RedisURL == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	client, err := openRedis(r.cfg.RedisURL)
	if err != nil {
		return nil, err
	}
	keys, err := client.DBSize(ctx).Result()
	if err != nil {
		return nil, fmt.Errorf("the Redis of REDIS_URL does not answer: %w", err)
	}
	if keys > 0 && !r.flushRedis {
		return nil, fmt.Errorf("the database of REDIS_URL holds %d keys; its counts belong to another state. Name an empty one, or empty it with --flush-redis", keys)
	}
	return client, nil
}

func empty(ctx context.Context, client redis.UniversalClient) error {
	if cluster, ok := client.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, one *redis.Client) error { return one.FlushDB(ctx).Err() })
	}
	return client.FlushDB(ctx).Err()
}

// keyset puts the backup's keyset into its place, where it holds one.
func (r *restoring) keyset(ctx context.Context) error {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(r.program.Stderr, format+"\n", args...) }
	switch {
	case r.archive.Sealed == nil:
		return nil
	case r.passphrase.Empty():
		say("The backup holds its keyset, which needs --passphrase-file; the one in place is used.")
		return nil
	}
	raw, err := r.archive.OpenKeyset(r.passphrase)
	if err != nil {
		return err
	}
	written, err := secret.Import(ctx, keysetOf(r.cfg), raw)
	if err == nil && written {
		say("Wrote the keyset to %s.", r.cfg.Keyset)
	}
	return err
}

// bucket opens the object store, where there is one.
func (r *restoring) bucket(ctx context.Context) (backup.Bucket, error) {
	if r.cfg.S3Endpoint == "" {
		return nil, nil //nolint:nilnil // files stay where they are
	}
	b, err := openBucket(ctx, r.cfg)
	if err != nil {
		return nil, err
	}
	return b, b.EnsureBucket(ctx)
}

func (r *restoring) tell(done backup.Restored) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(r.program.Stdout, format+"\n", args...) }
	m := r.archive.Manifest
	say("Restored %d rows and %d files, as of %s. What happened since then is lost.", done.Rows, done.Objects, m.TakenAt.Format(time.RFC3339))
	say("%d posts wait for their time and go out by themselves. What was canceled, changed or published ahead of time since the backup is not known: look through them before you start.", done.Waiting)
	if done.Held > 0 {
		say("%d are held, because they were due before now and may be out: a person confirms each, or sends it again (dead letters, uncertain).", done.Held)
	}
	if done.Looked > 0 {
		say("%d were due before now: each is looked for at its network before anything is sent.", done.Looked)
	}
	say("%d API tokens are in force as they were then; everybody logs in to the dashboard anew.", done.Tokens)
}

// look says what else the operator has to see to.
func (r *restoring) look(ctx context.Context, bucket backup.Bucket) error {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(r.program.Stdout, format+"\n", args...) }
	if bucket != nil {
		n, some, err := backup.Missing(ctx, r.cfg.DatabaseURL, bucket)
		if err != nil {
			return err
		}
		if n > 0 {
			say("%d media files are not in the bucket, such as %v: copy them back before their posts are due.", n, some)
		}
	}
	s, err := postgres.Open(ctx, r.cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer s.Close()
	lost, err := (&keyring.Keeper{Store: s, Columns: postgres.SealedColumns(), Source: keysetOf(r.cfg)}).Unopenable(ctx)
	if err != nil {
		say("The keyset cannot be read (%s): put that of the backup into place before you start. Its keys are %v.", err, r.archive.Manifest.KeyIDs)
		return nil
	}
	if lost > 0 {
		say("%d secrets open with no key of this keyset: put that of the backup into place (keys %v), or connect their accounts again.", lost, r.archive.Manifest.KeyIDs)
	}
	return nil
}
