// Package counter counts page views, clicks and conversions in Redis in real
// time, without identifying readers.
//
// Package ingest receives hits over HTTP, identifies the visitor (package
// visitor) and filters bots (package botfilter) before anything is written.
// Counting then has four stages:
//
//   - Count: one call of count.lua counts up to 100 hits of concurrent requests,
//     which a Batcher collects. It drops duplicates, updates the running totals
//     and appends the hits to the shard's log. A hit is acknowledged once it is in
//     Redis.
//   - Aggregate: every few seconds the log is summarized by page. The summaries
//     are applied to hours, days, dimensions and rankings (aggregate.lua) and
//     queued as deltas.
//   - Flush: a batch of deltas is taken (shard.lua) and written to Postgres by
//     package flush, exactly once.
//   - Seed: if Redis loses its data, the totals are restored from Postgres
//     (seed.lua).
package counter
