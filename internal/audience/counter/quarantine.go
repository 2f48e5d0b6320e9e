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

// Lists of a shard that may contain unreadable entries.
const (
	listLog       = "log"
	listSummaries = "summaries"
	listTransfers = "transfers"
	listDeltas    = "deltas"
	listBatches   = "batches"
)

const (
	// maxQuarantined is the maximum number of records per shard. The oldest are
	// discarded first.
	maxQuarantined = 10_000
	// QuarantineRetention is how long records are retained.
	QuarantineRetention = 30 * 24 * time.Hour
)

// QuarantinedRecord is an entry that could not be read when it was to be
// aggregated or flushed. It stays in Redis until a version of the program that
// can read it replays it, or a user discards it.
type QuarantinedRecord struct {
	ID    uuid.UUID `json:"id"`
	At    time.Time `json:"at"`
	List  string    `json:"list"`            // where it was: log, summaries, transfers, deltas or batches
	Batch uuid.UUID `json:"batch,omitempty"` // the batch that skipped it, if any
	Flags []byte    `json:"flags,omitempty"` // log: flags of the hits
	Text  []byte    `json:"text,omitempty"`
	Error string    `json:"error"`

	Shard int    `json:"-"`
	raw   string // as stored
}

// newQuarantineRecord returns a record for an unreadable entry.
func (c *Counter) newQuarantineRecord(list, text string, cause error) QuarantinedRecord {
	return QuarantinedRecord{
		ID: uuid.New(), At: c.options.Now().UTC(), List: list, Text: []byte(text), Error: cause.Error(),
	}
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
		return fmt.Errorf("quarantine unreadable entries: %w", err)
	}
	counts, err := cmds[0].Int64Slice()
	if err != nil || len(counts) != 2 {
		return fmt.Errorf("quarantine unreadable entries: %w", errors.Join(errBadReply, err))
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

// Quarantine lists the quarantined records of a shard, oldest first.
func (c *Counter) Quarantine(ctx context.Context, shard int) ([]QuarantinedRecord, error) {
	lines, err := c.redis.LRange(ctx, tag(shard)+"quarantine", 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("list the quarantine: %w", err)
	}
	records := make([]QuarantinedRecord, len(lines))
	for i, line := range lines {
		q := &records[i]
		if err := json.Unmarshal([]byte(line), q); err != nil {
			*q = QuarantinedRecord{Error: "malformed quarantine record: " + err.Error()}
		}
		q.Shard, q.raw = shard, line
	}
	return records, nil
}

// QuarantineSize returns the number of quarantined records of all shards.
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

// ErrUnknownFormat reports that this version of the program cannot read a
// record either.
var ErrUnknownFormat = errors.New("this version cannot read the record either")

// Replay atomically moves a record from the quarantine back to its list.
// replayed is false if it has already been replayed or discarded. A record that
// a batch skipped must not be replayed until the ledger shows that the batch
// was applied without it.
func (c *Counter) Replay(ctx context.Context, q QuarantinedRecord) (replayed bool, err error) {
	entries, ok := q.replayEntries()
	if !ok {
		return false, ErrUnknownFormat
	}
	return c.removeQuarantined(ctx, q, append([]any{q.List}, entries...)...)
}

// Discard deletes a record from the quarantine.
func (c *Counter) Discard(ctx context.Context, q QuarantinedRecord) error {
	removed, err := c.removeQuarantined(ctx, q)
	if removed {
		c.meterQuarantined(ctx, 0, 1)
	}
	return err
}

func (c *Counter) removeQuarantined(ctx context.Context, q QuarantinedRecord, to ...any) (removed bool, err error) {
	cmds, err := c.runScripts(ctx, c.shardScript, []scriptCall{
		{tag(q.Shard) + listDeltas, append([]any{"replay", q.raw}, to...)},
	})
	if err != nil {
		return false, fmt.Errorf("remove a record from the quarantine: %w", err)
	}
	n, err := cmds[0].Int()
	return n == 1, err
}

// CanReplay reports whether this version of the program can read the record.
func (q QuarantinedRecord) CanReplay() bool {
	_, ok := q.replayEntries()
	return ok
}

// replayEntries returns the list entries of the record in the current format.
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

// formats returns functions that convert entries of known formats to the
// current one. Entries before format 1 lack its letter and are otherwise the
// same.
func formats() []func(text string) string {
	return []func(string) string{
		func(text string) string { return text },
		func(text string) string { return string(format) + text },
	}
}

// ExpireQuarantine discards the records of a shard that are older than
// QuarantineRetention and returns their number.
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

// addLogEntry adds the hits of the log entry that starts at the first line. An
// entry has two lines: flags and records. If it is malformed, bad is the record
// for the quarantine and used the number of its lines, so that the next
// readable entry is found. used is 0 if the second line is missing.
func (c *Counter) addLogEntry(all *summaries, lines []string) (used int, bad *QuarantinedRecord) {
	reject := func(used int, flags, text string, cause error) (int, *QuarantinedRecord) {
		q := c.newQuarantineRecord(listLog, text, cause)
		q.Flags = []byte(flags)
		return used, &q
	}
	switch {
	case !isFlags(lines[0]):
		return reject(1, "", lines[0], errLogEntry)
	case len(lines) == 1:
		return 0, nil
	}
	err := all.addLog(lines[0], lines[1])
	switch {
	case err == nil:
		return 2, nil
	case isFlags(lines[1]):
		return reject(1, lines[0], "", errLogEntry)
	default:
		return reject(2, lines[0], lines[1], err)
	}
}

// isFlags reports whether a line of the log contains the flags of hits or
// heartbeats.
func isFlags(line string) bool {
	return line != "" && !strings.ContainsFunc(line, func(r rune) bool {
		return r != flagDuplicate && (r < '0' || r > lastFlag)
	})
}
