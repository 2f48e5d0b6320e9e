package telemetry

import (
	"context"
	"time"
)

// Views records the metrics of view counting.
type Views struct{ set *instruments }

// Batch records hits that were counted in one round trip: counted hits and duplicates by
// kind, filtered hits by reason.
func (v *Views) Batch(ctx context.Context, hits int, took time.Duration, counted, duplicates, filtered map[string]int) {
	v.set.record(ctx, "dateline_view_batch_hits", float64(hits))
	v.set.record(ctx, "dateline_view_batch_duration_seconds", took.Seconds(), "result", "ok")
	for kind, n := range counted {
		v.set.add(ctx, "dateline_view_hits_total", int64(n), "kind", kind, "result", "counted")
	}
	for kind, n := range duplicates {
		v.set.add(ctx, "dateline_view_hits_total", int64(n), "kind", kind, "result", "duplicate")
	}
	for reason, n := range filtered {
		v.set.add(ctx, "dateline_view_hits_filtered_total", int64(n), "reason", reason)
	}
}

// BatchFailed records a batch that Redis did not accept.
func (v *Views) BatchFailed(ctx context.Context, took time.Duration) {
	v.set.record(ctx, "dateline_view_batch_duration_seconds", took.Seconds(), "result", "failed")
}

// Quarantined counts unreadable records that were moved to the quarantine.
func (v *Views) Quarantined(ctx context.Context, records int64) {
	v.set.add(ctx, "dateline_view_records_quarantined_total", records)
}

// QuarantineDiscarded counts records that were discarded from the quarantine.
func (v *Views) QuarantineDiscarded(ctx context.Context, records int64) {
	v.set.add(ctx, "dateline_view_records_discarded_total", records)
}

// Flushed records a flush to the database: ok, failed or busy.
func (v *Views) Flushed(ctx context.Context, result string, pages int64, took time.Duration) {
	v.set.add(ctx, "dateline_view_flushes_total", 1, "result", result)
	v.set.add(ctx, "dateline_view_flushed_pages_total", pages)
	if result == "ok" {
		v.set.record(ctx, "dateline_view_flush_duration_seconds", took.Seconds())
	}
}

// Crawl records the metrics of the crawler.
type Crawl struct{ set *instruments }

// Fetched records a fetch with all its requests.
func (c *Crawl) Fetched(ctx context.Context, outcome string, requests int, bytes int64, took time.Duration) {
	c.set.add(ctx, "dateline_crawl_requests_total", int64(requests), "outcome", outcome)
	c.set.add(ctx, "dateline_crawl_bytes_total", bytes)
	if took > 0 {
		c.set.record(ctx, "dateline_crawl_request_duration_seconds", took.Seconds())
	}
}

// Page records the result of crawling a page; kind is article or hub.
func (c *Crawl) Page(ctx context.Context, kind, result string) {
	c.set.add(ctx, "dateline_crawl_pages_total", 1, "kind", kind, "result", result)
}

// Links counts the new and the known links of a page.
func (c *Crawl) Links(ctx context.Context, fresh, known int) {
	c.set.add(ctx, "dateline_crawl_links_total", int64(fresh), "result", "new")
	c.set.add(ctx, "dateline_crawl_links_total", int64(known), "result", "known")
}

// Freshness records how long after its publication an article reached a stage: stored
// or searchable.
func (c *Crawl) Freshness(ctx context.Context, stage string, after time.Duration) {
	c.set.record(ctx, "dateline_crawl_freshness_seconds", max(after, 0).Seconds(), "stage", stage)
}

// HubRequested counts a subscription: accepted, failed, verified or denied.
func (c *Crawl) HubRequested(ctx context.Context, result string) {
	c.set.add(ctx, "dateline_websub_requests_total", 1, "result", result)
}

// HubDelivered counts a delivery of a hub, and the new articles in it.
func (c *Crawl) HubDelivered(ctx context.Context, result string, articles int) {
	c.set.add(ctx, "dateline_websub_deliveries_total", 1, "result", result)
	c.set.add(ctx, "dateline_websub_articles_total", int64(articles))
}

// Articles records the metrics of extraction and search.
type Articles struct{ set *instruments }

// PageExtracted counts an extracted page: selectors, generic, no_article or failed.
func (a *Articles) PageExtracted(ctx context.Context, result string) {
	a.set.add(ctx, "dateline_articles_parsed_total", 1, "result", result)
}

// FieldExtracted counts the result of a selector for a field: filled, empty or wrong.
func (a *Articles) FieldExtracted(ctx context.Context, field, result string) {
	a.set.add(ctx, "dateline_article_fields_total", 1, "field", field, "result", result)
}

// SelectorsChanged counts a change to a site's selectors: learned, relearned,
// rolled_back or failed.
func (a *Articles) SelectorsChanged(ctx context.Context, change string) {
	a.set.add(ctx, "dateline_selector_changes_total", 1, "change", change)
}

// ArticlePlaced records that an article was placed in a story: joined, founded, copy or
// updated, and how long it had waited.
func (a *Articles) ArticlePlaced(ctx context.Context, result string, waited time.Duration) {
	a.set.add(ctx, "dateline_story_articles_total", 1, "result", result)
	a.set.record(ctx, "dateline_story_placement_seconds", max(waited, 0).Seconds())
}

// StoryAlertsSent counts alerts about stories that a workspace does not have.
func (a *Articles) StoryAlertsSent(ctx context.Context, count int) {
	a.set.add(ctx, "dateline_story_alerts_total", int64(count))
}

// SearchDone records a search.
func (a *Articles) SearchDone(ctx context.Context, mode, result string, took time.Duration) {
	a.set.add(ctx, "dateline_searches_total", 1, "mode", mode, "result", result)
	a.set.record(ctx, "dateline_search_duration_seconds", took.Seconds(), "mode", mode)
}
