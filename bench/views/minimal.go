package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
)

// minimalScript does the least that counting a batch of views once needs: it reads and
// writes what is known of their visitors, adds to the total of each page, and appends
// the views to a log. It takes every view for a new one. KEYS[1]: the visitors.
// ARGV: n, n fields of visitors, the log entry, then keys and counts of pages.
const minimalScript = `
local n, call = tonumber(ARGV[1]), redis.call
local sets = { KEYS[1] }
for k, visits in ipairs(call('HMGET', KEYS[1], unpack(ARGV, 2, n + 1))) do
  visits = visits or ''
  if #visits > 75 then visits = string.sub(visits, 6) end
  sets[2 * k], sets[2 * k + 1] = ARGV[k + 1], visits .. '12345'
end
call('HSET', unpack(sets))
local totals = {}
for i = n + 3, #ARGV, 2 do totals[#totals + 1] = call('HINCRBY', ARGV[i], 'v', ARGV[i + 1]) end
call('RPUSH', 'minimal:log', ARGV[n + 2])
return totals`

// countMinimally counts batches of views with minimalScript. It bounds what any script
// with a total per page and exact deduplication can reach.
func (e *engine) countMinimally(ctx context.Context, script *redis.Script, batches [][]counter.Hit) error {
	for _, batch := range batches {
		args := []any{len(batch)}
		counts := map[string]int{}
		for _, h := range batch {
			args = append(args, fmt.Sprintf("%05o", h.Visitor.Hash>>40&(1<<15-1)))
			counts[h.Page]++
		}
		// As long as a record of Dateline's log.
		args = append(args, strings.Repeat("x", 60*len(batch)))
		for page, n := range counts {
			args = append(args, "minimal:"+page, n)
		}
		if err := script.Run(ctx, e.Client, []string{"minimal:visits"}, args...).Err(); err != nil {
			return err
		}
	}
	return e.LTrim(ctx, "minimal:log", -1, -1).Err()
}
