package telemetry

// Instrument is a metric: one row of docs/reference/metrics.md.
type Instrument struct {
	Name   string // as exported to Prometheus
	Kind   string // counter, gauge or histogram
	Unit   string
	Labels []string
	Help   string

	bounds []float64 // bucket bounds of a histogram
}

// Instruments lists all metrics that Dateline declares. Labels have low
// cardinality: networks, states, routes; never IDs or crawled domains.
func Instruments() []Instrument {
	var all []Instrument
	for _, group := range [][]Instrument{
		publishingList(), viewsList(), crawlList(), articlesList(), processList(),
		enginesList(),
	} {
		all = append(all, group...)
	}
	return all
}

const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

func labels(names ...string) []string { return names }

func publishingList() []Instrument {
	return []Instrument{
		{
			Name: "dateline_posts_scheduled_total", Kind: counter, Unit: "posts",
			Help: "Posts and drafts that were accepted, one by one or in bulk.",
		},
		{
			Name: "dateline_target_outcomes_total", Kind: counter, Unit: "targets",
			Labels: labels("network", "outcome"),
			Help:   "Outcomes of targets: posted, failed, uncertain, retrying.",
		},
		{
			Name: "dateline_post_lateness_seconds", Kind: histogram, Unit: "seconds", Labels: labels("network"),
			Help: "Time from a post's scheduled time to the call that published it, by the database clock.",
			// A delay of one second is noticeable; the alert fires at 30 s.
			bounds: []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600},
		},
		{
			Name: "dateline_network_calls_total", Kind: counter, Unit: "calls",
			Labels: labels("network", "use", "result"),
			Help:   "Publish and upload calls to networks' APIs, by outcome class; ok means success.",
		},
		{
			Name: "dateline_network_call_duration_seconds", Kind: histogram, Unit: "seconds",
			Labels: labels("network", "use"), Help: "Duration of those calls.",
			bounds: []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60},
		},
		{
			Name: "dateline_measured_posts_total", Kind: counter, Unit: "posts", Labels: labels("network", "state"),
			Help: "Readings of the metrics of posts, by what the network answered: measured, missing, deleted, " +
				"unavailable.",
		},
		{
			Name: "dateline_measuring_pauses_total", Kind: counter, Unit: "pauses", Labels: labels("network", "reason"),
			Help: "Runs that stopped reading the metrics of an account, by reason " +
				"(docs/explanation/metrics-of-posts.md).",
		},
		{
			Name: "dateline_posts_armed", Kind: gauge, Unit: "posts",
			Help: "Posts that this worker has armed: loaded in memory, ready to send.",
		},
		{
			Name: "dateline_posts", Kind: gauge, Unit: "posts", Labels: labels("state"),
			Help: "Posts by state, each counted up to 100,000: scheduled, due_within_a_minute, publishing, overdue " +
				"(by more than 30 s), parked (with dead letters).",
		},
		{
			Name: "dateline_dead_letters", Kind: gauge, Unit: "targets", Labels: labels("reason"),
			Help: "Failed and uncertain targets that need a decision, by reason.",
		},
		{
			Name: "dateline_webhook_deliveries_pending", Kind: gauge, Unit: "deliveries",
			Help: "Webhook deliveries that have not succeeded yet.",
		},
		{
			Name: "dateline_accounts", Kind: gauge, Unit: "accounts", Labels: labels("network", "status"),
			Help: "Accounts by status: connected, or in need of attention.",
		},
		{
			Name: "dateline_account_access_expiry_seconds", Kind: gauge, Unit: "seconds", Labels: labels("network"),
			Help: "Time until the first non-renewable account access expires.",
		},
	}
}

func viewsList() []Instrument {
	return []Instrument{
		{
			Name: "dateline_view_hits_total", Kind: counter, Unit: "hits", Labels: labels("kind", "result"),
			Help: "Accepted hits by kind (view, click, conversion): counted, or duplicate within the site's window.",
		},
		{
			Name: "dateline_view_hits_filtered_total", Kind: counter, Unit: "hits", Labels: labels("reason"),
			Help: "Filtered hits, by reason (docs/reference/tracker.md).",
		},
		{
			Name: "dateline_view_batch_hits", Kind: histogram, Unit: "hits",
			Help:   "Hits counted per round trip to Redis.",
			bounds: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000},
		},
		{
			Name: "dateline_view_batch_duration_seconds", Kind: histogram, Unit: "seconds", Labels: labels("result"),
			Help:   "Duration of these round trips: ok, failed.",
			bounds: []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 10},
		},
		{
			Name: "dateline_view_quarantine_records", Kind: gauge, Unit: "records",
			Help: "Unreadable records in the quarantine in Redis " +
				"(docs/how-to/runbooks/readers.md#recordsquarantined).",
		},
		{
			Name: "dateline_view_records_quarantined_total", Kind: counter, Unit: "records",
			Help: "Records moved to the quarantine.",
		},
		{
			Name: "dateline_view_records_discarded_total", Kind: counter, Unit: "records",
			Help: "Quarantined records that were discarded by a user or because of the limits on number and age.",
		},
		{
			Name: "dateline_view_flushes_total", Kind: counter, Unit: "flushes", Labels: labels("result"),
			Help: "Flushes of counts from Redis to the database: ok, failed, busy (another worker held the lock).",
		},
		{
			Name: "dateline_view_flush_duration_seconds", Kind: histogram, Unit: "seconds",
			Help:   "Duration of successful flushes.",
			bounds: []float64{0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120},
		},
		{
			Name: "dateline_view_flushed_pages_total", Kind: counter, Unit: "pages",
			Help: "Pages with new counts that were written to the database.",
		},
		{
			Name: "dateline_view_flush_lag_seconds", Kind: gauge, Unit: "seconds",
			Help: "Time since the last flush while Redis has pending entries; 0 if it has none.",
		},
		{
			Name: "dateline_view_pending_entries", Kind: gauge, Unit: "entries",
			Help: "Entries in Redis that wait for the next flush.",
		},
		{
			Name: "dateline_view_count_mismatches", Kind: gauge, Unit: "totals",
			Help: "Totals that differed between Redis and the database in the last comparison.",
		},
	}
}

func crawlList() []Instrument {
	return []Instrument{
		{
			Name: "dateline_crawl_requests_total", Kind: counter, Unit: "requests", Labels: labels("outcome"),
			Help: "Requests to sites, including robots.txt and redirects, by the outcome of their fetch.",
		},
		{
			Name: "dateline_crawl_request_duration_seconds", Kind: histogram, Unit: "seconds",
			Help:   "Duration of fetches that got a response.",
			bounds: []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45},
		},
		{
			Name: "dateline_crawl_bytes_total", Kind: counter, Unit: "bytes",
			Help: "Response body bytes received, before decompression.",
		},
		{
			Name: "dateline_crawl_pages_total", Kind: counter, Unit: "pages", Labels: labels("kind", "result"),
			Help: "Requested pages by kind (article, hub) and result: new, changed, unchanged, moved, " +
				"blocked_by_robots, excluded, timeout, failed.",
		},
		{
			Name: "dateline_crawl_links_total", Kind: counter, Unit: "links", Labels: labels("result"),
			Help: "Links on pages that are in scope and were not just seen on another page of the site: new, known.",
		},
		{
			Name: "dateline_crawl_freshness_seconds", Kind: histogram, Unit: "seconds", Labels: labels("stage"),
			Help: "Time from an article's publication date to when it was stored or searchable; only articles " +
				"published while their site was crawled.",
			// The goal is 30 minutes.
			bounds: []float64{30, 60, 120, 300, 600, 900, 1200, 1800, 2700, 3600, 7200, 21600, 86400},
		},
		{
			Name: "dateline_crawl_seeds", Kind: gauge, Unit: "seeds", Labels: labels("state"),
			Help: "Seeds: active, paused, and of the active ones those due and those overdue by more than 15 minutes.",
		},
		{
			Name: "dateline_crawl_domains", Kind: gauge, Unit: "domains", Labels: labels("state"),
			Help: "Domains: known, and of these those paused, backing_off (a site requested a delay) and due.",
		},
		{
			Name: "dateline_websub_requests_total", Kind: counter, Unit: "requests", Labels: labels("result"),
			Help: "Subscriptions to hubs: accepted or failed requests, and what hubs decided: verified, denied.",
		},
		{
			Name: "dateline_websub_deliveries_total", Kind: counter, Unit: "deliveries", Labels: labels("result"),
			Help: "Deliveries of hubs: accepted, bad_signature (ignored), unknown (no such subscription), unwanted " +
				"(its seeds were deleted), too_large.",
		},
		{
			Name: "dateline_websub_articles_total", Kind: counter, Unit: "articles",
			Help: "New articles that hubs delivered before a poll found them.",
		},
		{
			Name: "dateline_websub_subscriptions", Kind: gauge, Unit: "subscriptions", Labels: labels("state"),
			Help: "Subscriptions to hubs: pending, active, expired, denied.",
		},
		{
			Name: "dateline_crawl_frontier_urls", Kind: gauge, Unit: "URLs",
			Help: "Known URLs: exact up to 10,000, above that an estimate.",
		},
	}
}

func articlesList() []Instrument {
	return []Instrument{
		{
			Name: "dateline_articles_parsed_total", Kind: counter, Unit: "articles", Labels: labels("result"),
			Help: "Pages by extraction result: selectors, generic (without site selectors), no_article, failed.",
		},
		{
			Name: "dateline_article_fields_total", Kind: counter, Unit: "fields", Labels: labels("field", "result"),
			Help: "Selector results by field: filled, empty, wrong.",
		},
		{
			Name: "dateline_selector_changes_total", Kind: counter, Unit: "changes", Labels: labels("change"),
			Help: "Changes to sites' selectors: learned, relearned, rolled_back, failed.",
		},
		{
			Name: "dateline_articles_pending", Kind: gauge, Unit: "articles", Labels: labels("stage"),
			Help: "Pages pending extraction (parse), article changes pending indexing (index) and articles pending " +
				"placement in a story (story), each counted up to 100,000.",
		},
		{
			Name: "dateline_articles_oldest_pending_seconds", Kind: gauge, Unit: "seconds", Labels: labels("stage"),
			Help: "Age of the oldest of them.",
		},
		{
			Name: "dateline_story_articles_total", Kind: counter, Unit: "articles", Labels: labels("result"),
			Help: "Articles placed in stories: joined a story, founded one, copy of an article of a story, updated.",
		},
		{
			Name: "dateline_story_placement_seconds", Kind: histogram, Unit: "seconds",
			Help:   "Time from when an article was stored or changed to when it was placed in a story.",
			bounds: []float64{0.5, 1, 2, 5, 10, 30, 60, 300, 1800},
		},
		{
			Name: "dateline_story_alerts_total", Kind: counter, Unit: "alerts",
			Help: "Alerts that other sources have a story and the workspace does not.",
		},
		{
			Name: "dateline_searches_total", Kind: counter, Unit: "searches", Labels: labels("mode", "result"),
			Help: "Searches, by mode (keyword, semantic, hybrid): ok, failed.",
		},
		{
			Name: "dateline_search_duration_seconds", Kind: histogram, Unit: "seconds", Labels: labels("mode"),
			Help:   "Duration of searches.",
			bounds: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
		},
	}
}

func processList() []Instrument {
	return []Instrument{
		{
			Name: "dateline_http_requests_total", Kind: counter, Unit: "requests",
			Labels: labels("method", "route", "status"), Help: "Requests to the API.",
		},
		{
			Name: "dateline_http_request_duration_seconds", Kind: histogram, Unit: "seconds", Labels: labels("route"),
			Help:   "Duration of requests to the API.",
			bounds: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		},
		{
			Name: "dateline_clock_offset_seconds", Kind: gauge, Unit: "seconds",
			Help: "How far this host's clock is ahead of the database clock.",
		},
		{
			Name: "dateline_memory_limit_bytes", Kind: gauge, Unit: "bytes",
			Help: "Memory limit of this process: the smallest of GOMEMLIMIT, the cgroup limit and the host's memory.",
		},
		{
			Name: "dateline_disk_bytes", Kind: gauge, Unit: "bytes", Labels: labels("volume", "state"),
			Help: "Disk space of the data directory (data) and of temporary files (temporary): free, size.",
		},
		{
			Name: "dateline_certificate_expiry_seconds", Kind: gauge, Unit: "seconds", Labels: labels("endpoint"),
			Help: "Time until the TLS certificate expires at DATELINE_PUBLIC_URL (public), DATABASE_URL, " +
				"TEMPORAL_ADDRESS, S3_ENDPOINT and REDIS_URL (database, temporal, objects, redis).",
		},
		{
			Name: "dateline_keyset_age_seconds", Kind: gauge, Unit: "seconds",
			Help: "Time since the token encryption keys were last changed: the age of the file DATELINE_KEYSET.",
		},
		{
			Name: "dateline_build_info", Kind: gauge, Unit: "1", Labels: labels("version", "commit", "date"),
			Help: "Always 1; the labels contain the version, its commit and the date of that.",
		},
	}
}

func enginesList() []Instrument {
	return []Instrument{
		{
			Name: "dateline_engine_up", Kind: gauge, Unit: "1", Labels: labels("engine"),
			Help: "1 if the health check succeeds: database, redis, temporal, objects, clock, worker.",
		},
		{
			Name: "dateline_engine_cpu_seconds_total", Kind: counter, Unit: "seconds", Labels: labels("engine"),
			Help: "CPU time of the engines started by `dateline up`.",
		},
		{
			Name: "dateline_engine_memory_bytes", Kind: gauge, Unit: "bytes", Labels: labels("engine"),
			Help: "Memory of the engines started by `dateline up`; memory shared by their processes is counted once.",
		},
		{
			Name: "dateline_database_connections", Kind: gauge, Unit: "connections", Labels: labels("state"),
			Help: "Connection pool of this process to Postgres: in_use, idle, max.",
		},
		{
			Name: "dateline_database_server_connections", Kind: gauge, Unit: "connections", Labels: labels("state"),
			Help: "Connections of all clients to the Postgres server: used, max.",
		},
		{Name: "dateline_database_size_bytes", Kind: gauge, Unit: "bytes", Help: "Size of the database."},
		{
			Name: "dateline_redis_connections", Kind: gauge, Unit: "connections", Labels: labels("state"),
			Help: "Connection pool of this process to Redis: in_use, idle.",
		},
		{
			Name: "dateline_redis_server_connections", Kind: gauge, Unit: "connections", Labels: labels("state"),
			Help: "Connections of all clients to Redis (in a cluster: of the fullest node): used, max.",
		},
		{
			Name: "dateline_redis_memory_bytes", Kind: gauge, Unit: "bytes", Labels: labels("state"),
			Help: "Memory of Redis (in a cluster: of the fullest node): used, and max if there is a limit.",
		},
		{
			Name: "dateline_temporal_backlog", Kind: gauge, Unit: "tasks", Labels: labels("task_queue", "kind"),
			Help: "Approximate number of tasks in Temporal task queues that no worker has picked up, by kind " +
				"(workflow, activity).",
		},
		{
			Name: "dateline_temporal_backlog_age_seconds", Kind: gauge, Unit: "seconds",
			Labels: labels("task_queue", "kind"), Help: "Approximate age of the oldest of them.",
		},
	}
}
