package counter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Lists of a shard whose entries may turn out to be unreadable.
const (
	listLog       = "log"
	listSummaries = "sums"
	listTransfers = "away"
	listDeltas    = "deltas"
	listBatches   = "batches"
)

const (
	// maxQuarantined is how many records a shard's quarantine keeps; the oldest
	// are discarded first.
	maxQuarantined = 10_000
	// QuarantineRetention is how long a record is kept.
	QuarantineRetention = 30 * 24 * time.Hour
)

// QuarantinedRecord is a record that could not be read when it was to be folded or
// flushed. It waits in Redis, beside the others of its shard, for a program that
// can read it, or for a person who discards it.
type QuarantinedRecord struct {
	ID    uuid.UUID `json:"id"`
	At    time.Time `json:"at"`
	List  string    `json:"list"`            // where it was: log, sums, away, deltas or batches
	Batch uuid.UUID `json:"batch,omitempty"` // that it was left out of; zero: of none
	Flags []byte    `json:"said,omitempty"`  // log: what Redis noted of the hits
	Text  []byte    `json:"text,omitempty"`
	Error string    `json:"error"`

	Shard int    `json:"-"`
	raw   string // as it is in the list
}

// newQuarantineRecord makes a record of an entry that cannot be read.
func (c *Counter) newQuarantineRecord(list, text string, why error) QuarantinedRecord {
	return QuarantinedRecord{ID: uuid.New(), At: c.options.Now().UTC(), List: list, Text: []byte(text), Error: why.Error()}
}

func (q QuarantinedRecord) encode() (string, error) {
	raw, err := json.Marshal(q)
	return string(raw), err
}

// quarantine moves entries of a list to the quarantine of its shard.
func (c *Counter) quarantine(ctx context.Context, shard int, list string, entries ...QuarantinedRecord) error {
	of := ""
	args := []any{"quarantine", list, "", maxQuarantined}
	for _, q := range entries {
		raw, err := q.encode()
		if err != nil {
			return err
		}
		if q.Batch != uuid.Nil {
			of = q.Batch.String()
		}
		args = append(args, string(q.Text), q.ID.String(), raw)
	}
	args[2] = of
	cmds, err := c.runScripts(ctx, c.shardScript, []scriptCall{{tag(shard) + listDeltas, args}})
	if err != nil {
		return fmt.Errorf("quarantine what cannot be read: %w", err)
	}
	counts, err := cmds[0].Int64Slice()
	if err != nil || len(counts) != 2 {
		return fmt.Errorf("quarantine what cannot be read: %w", errors.Join(errBadReply, err))
	}
	c.meterQuarantined(ctx, counts[0], counts[1])
	return nil
}

func (c *Counter) meterQuarantined(ctx context.Context, moved, discarded int64) {
	if c.options.Meter == nil {
		return
	}
	if moved > 0 {
		c.options.Meter.Quarantined(ctx, moved)
	}
	if discarded > 0 {
		c.options.Meter.QuarantineDiscarded(ctx, discarded)
	}
}

// Quarantine lists the records of a shard's quarantine, oldest first.
func (c *Counter) Quarantine(ctx context.Context, shard int) ([]QuarantinedRecord, error) {
	lines, err := c.redis.LRange(ctx, tag(shard)+"quarantine", 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("list the quarantine: %w", err)
	}
	records := make([]QuarantinedRecord, len(lines))
	for i, line := range lines {
		q := &records[i]
		if err := json.Unmarshal([]byte(line), q); err != nil {
			*q = QuarantinedRecord{Error: "the record in the quarantine cannot be read itself: " + err.Error()}
		}
		q.Shard, q.raw = shard, line
	}
	return records, nil
}

// QuarantineSize is how many records all quarantines have.
func (c *Counter) QuarantineSize(ctx context.Context) (n int64, err error) {
	var lengths []*redis.IntCmd
	if _, err = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for shard := range c.Shards() {
			lengths = append(lengths, p.LLen(ctx, tag(shard)+"quarantine"))
		}
		return nil
	}); err != nil {
		return 0, fmt.Errorf("count the quarantine: %w", err)
	}
	for _, length := range lengths {
		n += length.Val()
	}
	return n, nil
}

// ErrUnknownFormat says that a record cannot be replayed: this program does not
// know its format either.
var ErrUnknownFormat = errors.New("this version of the program cannot read the record either")

// Replay puts a record of the quarantine back on its list, atomically and once.
// again is false when somebody else has replayed or discarded it. What was left
// out of a batch must not be replayed before the ledger says that the batch was
// applied without it.
func (c *Counter) Replay(ctx context.Context, q QuarantinedRecord) (again bool, err error) {
	entries, ok := q.replayEntries()
	if !ok {
		return false, ErrUnknownFormat
	}
	return c.removeQuarantined(ctx, q, append([]any{q.List}, entries...)...)
}

// Discard forgets a record of the quarantine.
func (c *Counter) Discard(ctx context.Context, q QuarantinedRecord) error {
	ended, err := c.removeQuarantined(ctx, q)
	if ended {
		c.meterQuarantined(ctx, 0, 1)
	}
	return err
}

func (c *Counter) removeQuarantined(ctx context.Context, q QuarantinedRecord, to ...any) (ended bool, err error) {
	cmds, err := c.runScripts(ctx, c.shardScript, []scriptCall{{tag(q.Shard) + listDeltas, append([]any{"replay", q.raw}, to...)}})
	if err != nil {
		return false, fmt.Errorf("take a record out of the quarantine: %w", err)
	}
	n, err := cmds[0].Int()
	return n == 1, err
}

// CanReplay says whether this program can read a record.
func (q QuarantinedRecord) CanReplay() bool {
	_, ok := q.replayEntries()
	return ok
}

// replayEntries gives the entries that a record stands for, in the format of this
// program.
func (q QuarantinedRecord) replayEntries() (entries []any, ok bool) {
	for _, known := range formats() {
		text := known(string(q.Text))
		switch q.List {
		case listLog:
			if new(summaries).addLog(string(q.Flags), text) == nil {
				return []any{string(q.Flags), text}, true
			}
		case listSummaries, listDeltas:
			if new(summaries).decode(text) == nil {
				return []any{text}, true
			}
		}
	}
	return nil, false
}

// formats turn what a program wrote into what this one reads. Before format 1
// there was no letter, and all else was the same.
func formats() []func(text string) string {
	return []func(string) string{
		func(text string) string { return text },
		func(text string) string { return string(format) + text },
	}
}

// ExpireQuarantine discards the records of a shard that are older than
// QuarantineAge, and gives how many there were.
func (c *Counter) ExpireQuarantine(ctx context.Context, shard int) (expired int, err error) {
	records, err := c.Quarantine(ctx, shard)
	if err != nil {
		return 0, err
	}
	before := c.options.Now().Add(-QuarantineRetention)
	for _, q := range records {
		if q.At.IsZero() || !q.At.Before(before) {
			continue
		}
		if err := c.Discard(ctx, q); err != nil {
			return expired, err
		}
		expired++
	}
	return expired, nil
}

// addLogEntry adds the hits of the entry of the log that begins with the first line.
// An entry has two lines. Where one cannot be read, bad is what is to be put
// aside, and used how many lines that is; the next one that can be read is found
// again behind it. used is 0 where the second line has not come yet.
func (c *Counter) addLogEntry(all *summaries, lines []string) (used int, bad *QuarantinedRecord) {
	aside := func(used int, said, text string, why error) (int, *QuarantinedRecord) {
		q := c.newQuarantineRecord(listLog, text, why)
		q.Flags = []byte(said)
		return used, &q
	}
	switch {
	case !isFlags(lines[0]):
		return aside(1, "", lines[0], errLogEntry)
	case len(lines) == 1:
		return 0, nil
	}
	err := all.addLog(lines[0], lines[1])
	switch {
	case err == nil:
		return 2, nil
	case isFlags(lines[1]):
		return aside(1, lines[0], "", errLogEntry)
	default:
		return aside(2, lines[0], lines[1], err)
	}
}

// isFlags says whether a line of the log is what Redis notes of hits.
func isFlags(line string) bool {
	return line != "" && strings.Trim(line, "-0123") == ""
}
