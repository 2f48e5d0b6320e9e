package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/embedded"
	"dateline/internal/infra/config"
	"dateline/internal/storage/postgres"
)

const quarantineUsage = `Usage: dateline quarantine <command> [flags] [ID…]

Records of readers' counts that could not be read are moved to a quarantine in
Redis, which keeps the newest 10,000 of each shard for 30 days.

  list              the records, and whether this version can read them
  replay [ID…]      count records that this version can read, each once; without ids, all
  discard ID…       delete records; --all deletes all

Flags: --config FILE of settings.
`

// quarantine lists, replays or discards records that could not be read.
func (p *Program) quarantine(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		_, err := io.WriteString(p.Stderr, quarantineUsage)
		return err
	}
	what := args[0]
	set, file := p.flags("quarantine " + what)
	all := set.Bool("all", false, "discard all records")
	if err := set.Parse(args[1:]); err != nil {
		return errUsage
	}
	ids := make([]uuid.UUID, set.NArg())
	for i, text := range set.Args() {
		var err error
		if ids[i], err = uuid.Parse(text); err != nil {
			return fmt.Errorf("%q: id must be a UUID, see `dateline quarantine list`", text)
		}
	}
	var run func(*flush.Flusher) error
	switch {
	case what == "list" && len(ids) == 0:
		run = func(k *flush.Flusher) error { return p.listQuarantine(ctx, k) }
	case what == "replay":
		run = func(k *flush.Flusher) error { return p.replayQuarantine(ctx, k, ids) }
	case what == "discard" && *all != (len(ids) > 0):
		run = func(k *flush.Flusher) error {
			done, err := k.DiscardQuarantined(ctx, ids)
			return p.told(err, "discarded %d records", done.Discarded)
		}
	default:
		_, _ = io.WriteString(p.Stderr, quarantineUsage)
		return errUsage
	}
	cfg, err := config.Load(*file, p.Environ)
	if err != nil {
		return err
	}
	return p.withQuarantine(ctx, cfg, run)
}

// withQuarantine connects to the engines that are set, or those of a `dateline
// up` beside.
func (p *Program) withQuarantine(ctx context.Context, cfg *config.Config, run func(*flush.Flusher) error) (err error) {
	database, address := cfg.DatabaseURL, cfg.RedisURL
	if database == "" {
		if database, err = embedded.RunningDatabase(cfg.DataDir); err != nil {
			return err
		}
	}
	if address == "" {
		if address, err = embedded.RunningRedis(cfg.DataDir); err != nil {
			return err
		}
	}
	s, err := postgres.Open(ctx, database)
	if err != nil {
		return err
	}
	defer s.Close()
	client, err := openRedis(address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return run(&flush.Flusher{Counter: counter.New(client, counter.Options{}), Store: s, Log: p.logger(cfg)})
}

func (p *Program) listQuarantine(ctx context.Context, k *flush.Flusher) error {
	records, err := k.Quarantine(ctx)
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return p.told(nil, "The quarantine is empty.")
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tSINCE\tSHARD\tLIST\tBYTES\tREPLAY\tREASON")
	for _, q := range records {
		replay := "no"
		if q.CanReplay() {
			replay = "yes"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%d\t%s\t%s\n", q.ID, q.At.UTC().Format(time.RFC3339), q.Shard, q.List, len(q.Text), replay, q.Error)
	}
	return table.Flush()
}

func (p *Program) replayQuarantine(ctx context.Context, k *flush.Flusher, ids []uuid.UUID) error {
	done, err := k.Replay(ctx, ids)
	if err != nil {
		return err
	}
	if err := p.told(nil, "replayed %d records; they are counted with the next flush", done.Replayed); err != nil {
		return err
	}
	for _, line := range []struct {
		n    int
		says string
	}{
		{done.AlreadyCounted, "%d had been counted with their batch and were removed"},
		{done.Pending, "%d wait for their batch to be flushed; replay them again in a minute"},
		{done.Unknown, "%d cannot be read by this version either and stay"},
	} {
		if line.n > 0 {
			if err := p.told(nil, line.says, line.n); err != nil {
				return err
			}
		}
	}
	return nil
}
