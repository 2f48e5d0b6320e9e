package counter

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// summarizeLog adds up the beginning of a log by page and appends the summaries
// to the lists of their shards. ok is false if another process did so
// concurrently.
func (c *Counter) summarizeLog(ctx context.Context, shard int) (ok bool, err error) {
	var all summaries
	var bad []QuarantinedRecord
	number, used := "", 0 // lines
	for used < 2*maxLogEntries {
		var state *redis.StringCmd
		var lines *redis.StringSliceCmd
		_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			// In this order, the log can't be newer than the number.
			state = p.HGet(ctx, tag(shard)+"state", "log")
			lines = p.LRange(ctx, tag(shard)+"log", int64(used), int64(used+2*logReadSize-1))
			return nil
		})
		if err != nil && !errors.Is(err, redis.Nil) {
			return false, err
		}
		if used > 0 && state.Val() != number {
			return false, nil
		}
		number = state.Val()
		rest := lines.Val()
		for len(rest) > 0 {
			n, unreadable := c.addLogEntry(&all, rest)
			if unreadable != nil {
				bad = append(bad, *unreadable)
			}
			if n == 0 {
				break
			}
			used, rest = used+n, rest[n:]
		}
		if len(lines.Val()) < 2*logReadSize {
			break
		}
	}
	if used == 0 {
		return true, nil
	}
	args := []any{"summarize", atoi(number), used, maxQuarantined}
	for _, s := range all.encodeByShard() {
		if c.isCluster && s.tag != tag(shard) {
			args = append(args, listTransfers, uuid.NewString()+s.tag+s.text)
			continue
		}
		args = append(args, s.tag, s.text)
	}
	for _, q := range bad {
		raw, err := q.encode()
		if err != nil {
			return false, err
		}
		args = append(args, "quarantine", raw)
	}
	cmds, err := c.runScripts(ctx, c.shardScript, []scriptCall{{tag(shard) + listDeltas, args}})
	if err != nil {
		return false, err
	}
	n, err := cmds[0].Int64()
	if err != nil || n < 0 {
		return false, err
	}
	c.meterQuarantined(ctx, int64(len(bad)), n)
	return true, nil
}

// encodedSummaries are the summaries that one call of aggregate.lua applies.
type encodedSummaries struct{ tag, text string }

// encodeByShard encodes the summaries in chunks of pages of one shard.
func (cs *summaries) encodeByShard() []encodedSummaries {
	cs.addVisitValues()
	slices.SortStableFunc(cs.list, func(a, b *pageSummary) int {
		return strings.Compare(a.page, b.page)
	})
	var chunks []encodedSummaries
	for rest := cs.list; len(rest) > 0; {
		n, tag := 0, rest[0].page[:tagLength]
		for n < len(rest) && n < maxPagesPerCall && rest[n].page[:tagLength] == tag {
			n++
		}
		chunks = append(chunks, encodedSummaries{tag, string(encodeSummaries(rest[:n], true))})
		rest = rest[n:]
	}
	return chunks
}

// transferSummaries moves summaries to the shards that they belong to. Without
// a cluster, a log has hits of all shards; if its keys are migrated to a
// cluster, the rest of it is on the wrong node. Each transfer has an id so that
// its shard receives it once.
func (c *Counter) transferSummaries(ctx context.Context, shard int) error {
	transfers, err := c.redis.LRange(ctx, tag(shard)+"transfers", 0, -1).Result()
	if err != nil {
		return err
	}
	for _, one := range transfers {
		id, to, text, ok := parseTransfer(one, c.Shards())
		if !ok {
			if err := c.quarantine(ctx, shard, listTransfers,
				c.newQuarantineRecord(listTransfers, one, errSummary)); err != nil {
				return err
			}
			continue
		}
		if _, err := c.runScripts(ctx, c.shardScript,
			[]scriptCall{{to + "deltas", []any{"receive", id, text}}}); err != nil {
			return err
		}
		if err := c.redis.LRem(ctx, tag(shard)+"transfers", 1, one).Err(); err != nil {
			return err
		}
	}
	return nil
}

// parseTransfer splits a transfer into its id, the tag of its shard, and the
// summaries.
func parseTransfer(one string, shards int) (id, to, text string, ok bool) {
	const idLength = 36 // of a UUID's text
	if len(one) < idLength+tagLength {
		return "", "", "", false
	}
	id, to, text = one[:idLength], one[idLength:idLength+tagLength], one[idLength+tagLength:]
	n, err := strconv.Atoi(to[2:4])
	return id, to, text, err == nil && n >= 0 && to == tag(n) && n < shards
}
