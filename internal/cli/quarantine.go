package cli

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/embedded"
	"dateline/internal/infra/config"
	"dateline/internal/infra/redisclient"
	"dateline/internal/storage/postgres"
)

// quarantine lists, replays or discards unreadable records.
func (p *Program) quarantine() *cobra.Command {
	group := p.group("quarantine", "list, replay or discard unreadable view count records")
	group.Long = `Unreadable view count records are moved to a quarantine in Redis, which stores the
newest 10,000 of each shard for 30 days.`
	list := p.command("list", "list the records and whether this version can read them")
	group.AddCommand(p.quarantineCommand(list, p.listQuarantine))
	replay := p.command("replay [ID…]", "count the records that this version can read, each once; all without IDs")
	replay.Args = nil
	group.AddCommand(p.quarantineCommand(replay, p.replayQuarantine))
	discard := p.command("discard ID…", "delete the records")
	all := discard.Flags().Bool("all", false, "discard all records")
	discard.Args = func(_ *cobra.Command, args []string) error {
		if *all == (len(args) > 0) {
			return usageError("give the IDs of the records, or --all")
		}
		return nil
	}
	group.AddCommand(p.quarantineCommand(discard, func(ctx context.Context, k *flush.Flusher, ids []uuid.UUID) error {
		done, err := k.DiscardQuarantined(ctx, ids)
		return p.printResult(err, "discarded %d records", done.Discarded)
	}))
	return group
}

func (p *Program) quarantineCommand(
	c *command, run func(context.Context, *flush.Flusher, []uuid.UUID) error,
) *cobra.Command {
	return c.run(func(ctx context.Context, args []string) error {
		ids := make([]uuid.UUID, len(args))
		for i, text := range args {
			var err error
			if ids[i], err = uuid.Parse(text); err != nil {
				return fmt.Errorf("%q: id must be a UUID, see `dateline quarantine list`", text)
			}
		}
		cfg, _, err := c.settings()
		if err != nil {
			return err
		}
		return p.withQuarantine(ctx, cfg, func(k *flush.Flusher) error { return run(ctx, k, ids) })
	})
}

// withQuarantine connects to the configured engines, or to those of a running
// `dateline up`.
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
	client, err := redisclient.Open(address, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return run(&flush.Flusher{
		Counter: counter.New(client, counter.Options{}), Store: s.Audience.Views,
		Log: p.logger(cfg),
	})
}

func (p *Program) listQuarantine(ctx context.Context, k *flush.Flusher, _ []uuid.UUID) error {
	records, err := k.Quarantine(ctx)
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return p.printResult(nil, "The quarantine is empty.")
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tSINCE\tSHARD\tLIST\tBYTES\tREPLAY\tREASON")
	for _, q := range records {
		replay := "no"
		if q.CanReplay() {
			replay = "yes"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%d\t%s\t%s\n", q.ID, q.At.UTC().Format(time.RFC3339), q.Shard,
			q.List, len(q.Text), replay, q.Error)
	}
	return table.Flush()
}

func (p *Program) replayQuarantine(ctx context.Context, k *flush.Flusher, ids []uuid.UUID) error {
	done, err := k.Replay(ctx, ids)
	if err != nil {
		return err
	}
	if err := p.printResult(nil, "replayed %d records; the next flush counts them", done.Replayed); err != nil {
		return err
	}
	for _, line := range []struct {
		n       int
		message string
	}{
		{done.AlreadyCounted, "%d were already counted and removed"},
		{done.Pending, "%d belong to a batch that is not flushed yet; replay them again in a minute"},
		{done.Unknown, "%d are unreadable for this version and stay in the quarantine"},
	} {
		if line.n > 0 {
			if err := p.printResult(nil, line.message, line.n); err != nil {
				return err
			}
		}
	}
	return nil
}
