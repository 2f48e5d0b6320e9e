package telemetry

// Instrument is one row of docs/reference/metrics.md.
type Instrument struct {
	Name   string // in Prometheus
	Kind   string // counter, gauge or histogram
	Unit   string
	Labels []string
	Help   string

	bounds []float64 // of a histogram's buckets
}

// Instruments lists everything that Dateline itself measures. Labels have few
// values each: names of networks, of states, of routes; never ids, and never the
// domains that are crawled.
func Instruments() []Instrument {
	var all []Instrument
	for _, group := range [][]Instrument{publishingList(), viewsList(), crawlList(), articlesList(), processList(), enginesList()} {
		all = append(all, group...)
	}
	return all
}

const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

func labelled(names ...string) []string { return names }

func publishingList() []Instrument {
	return []Instrument{
		{Name: "dateline_posts_scheduled_total", Kind: counter, Unit: "posts", Help: "Posts and drafts that were accepted, one by one or in bulk."},
		{Name: "dateline_target_outcomes_total", Kind: counter, Unit: "targets", Labels: labelled("network", "outcome"), Help: "What came of targets: posted, failed, uncertain, retrying."},
		{Name: "dateline_post_lateness_seconds", Kind: histogram, Unit: "seconds", Labels: labelled("network"), Help: "From a post's time to the call that published it, by the database's clock.",
			// Editors notice a second; alerts begin at 30.
			bounds: []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600}},
		{Name: "dateline_network_calls_total", Kind: counter, Unit: "calls", Labels: labelled("network", "use", "result"), Help: "Calls of networks' APIs that publish or upload, by outcome class; ok is success."},
		{Name: "dateline_network_call_duration_seconds", Kind: histogram, Unit: "seconds", Labels: labelled("network", "use"), Help: "How long those calls took.",
			bounds: []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60}},
		{Name: "dateline_posts_armed", Kind: gauge, Unit: "posts", Help: "Posts that this worker holds ready in memory."},
		{Name: "dateline_posts", Kind: gauge, Unit: "posts", Labels: labelled("state"), Help: "Posts that wait, each counted up to 100,000: scheduled, due_within_a_minute, publishing, overdue (by more than 30 s), parked (with dead letters)."},
		{Name: "dateline_dead_letters", Kind: gauge, Unit: "targets", Labels: labelled("reason"), Help: "Targets that wait for a person, by reason."},
		{Name: "dateline_webhook_deliveries_waiting", Kind: gauge, Unit: "deliveries", Help: "Deliveries of webhooks that have not arrived yet."},
		{Name: "dateline_accounts", Kind: gauge, Unit: "accounts", Labels: labelled("network", "status"), Help: "Connected accounts and those that need a person."},
		{Name: "dateline_account_access_ends_seconds", Kind: gauge, Unit: "seconds", Labels: labelled("network"), Help: "Until the first account's access ends that cannot be renewed."},
	}
}

func viewsList() []Instrument {
	return []Instrument{
		{Name: "dateline_view_hits_total", Kind: counter, Unit: "hits", Labels: labelled("kind", "result"), Help: "Hits that were accepted, by kind (view, click, convert): counted, or repeated by the same visitor within the site's window."},
		{Name: "dateline_view_hits_filtered_total", Kind: counter, Unit: "hits", Labels: labelled("reason"), Help: "Hits that were not a reader's, by reason (docs/reference/tracker.md)."},
		{Name: "dateline_view_batch_hits", Kind: histogram, Unit: "hits", Help: "Hits that were counted with one round trip to Redis.",
			bounds: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}},
		{Name: "dateline_view_batch_duration_seconds", Kind: histogram, Unit: "seconds", Labels: labelled("result"), Help: "How long those took: ok, failed.",
			bounds: []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 10}},
		{Name: "dateline_view_quarantine_records", Kind: gauge, Unit: "records", Help: "Records of counts in Redis that could not be read and wait in the quarantine (docs/how-to/runbooks/readers.md#recordsquarantined)."},
		{Name: "dateline_view_records_quarantined_total", Kind: counter, Unit: "records", Help: "Records that were moved to the quarantine."},
		{Name: "dateline_view_records_discarded_total", Kind: counter, Unit: "records", Help: "Records of the quarantine that were discarded: by a person, or because there were too many or they were too old."},
		{Name: "dateline_view_flushes_total", Kind: counter, Unit: "flushes", Labels: labelled("result"), Help: "Flushes of counts from Redis to the database: ok, failed, busy (another worker was at it)."},
		{Name: "dateline_view_flush_duration_seconds", Kind: histogram, Unit: "seconds", Help: "How long flushes took that were ok.",
			bounds: []float64{0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120}},
		{Name: "dateline_view_flushed_rows_total", Kind: counter, Unit: "rows", Help: "Pages with something new that flushes brought to the database."},
		{Name: "dateline_view_flush_lag_seconds", Kind: gauge, Unit: "seconds", Help: "Since the database got counts last, or since the beginning, while Redis has more for it; 0 when it has none."},
		{Name: "dateline_view_changes_waiting", Kind: gauge, Unit: "changes", Help: "Entries in Redis that wait for the next flush."},
		{Name: "dateline_view_counts_differing", Kind: gauge, Unit: "counts", Help: "Pages and kinds that Redis and the database counted differently, when they were last compared."},
	}
}

func crawlList() []Instrument {
	return []Instrument{
		{Name: "dateline_crawl_requests_total", Kind: counter, Unit: "requests", Labels: labelled("outcome"), Help: "Requests to sites, robots.txt and redirects with them, by the outcome of the fetch that they were for."},
		{Name: "dateline_crawl_request_duration_seconds", Kind: histogram, Unit: "seconds", Help: "How long fetches took that got an answer.",
			bounds: []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45}},
		{Name: "dateline_crawl_bytes_total", Kind: counter, Unit: "bytes", Help: "Bytes of bodies, as they came over the wire."},
		{Name: "dateline_crawl_pages_total", Kind: counter, Unit: "pages", Labels: labelled("kind", "result"), Help: "Pages that were asked for (article, hub): new, changed, unchanged, moved, robots (refused by robots.txt), refused, timeout, failed."},
		{Name: "dateline_crawl_links_total", Kind: counter, Unit: "links", Labels: labelled("result"), Help: "Links on pages that the crawl wants and has not just seen on another page of the site: new, known."},
		{Name: "dateline_crawl_freshness_seconds", Kind: histogram, Unit: "seconds", Labels: labelled("stage"), Help: "From an article's publication, as its page tells it, until it was stored or searchable; of articles that came out while their site was watched.",
			// The goal is 30 minutes.
			bounds: []float64{30, 60, 120, 300, 600, 900, 1200, 1800, 2700, 3600, 7200, 21600, 86400}},
		{Name: "dateline_crawl_seeds", Kind: gauge, Unit: "seeds", Labels: labelled("state"), Help: "Seeds: active, paused; of the active ones those due, and those overdue by more than 15 minutes."},
		{Name: "dateline_crawl_domains", Kind: gauge, Unit: "domains", Labels: labelled("state"), Help: "Domains that are known; of these those paused, those that asked to be left alone for now, and those with something due."},
		{Name: "dateline_crawl_frontier_urls", Kind: gauge, Unit: "URLs", Help: "URLs that are known: exact up to 10,000, beyond that as the database estimates it."},
	}
}

func articlesList() []Instrument {
	return []Instrument{
		{Name: "dateline_articles_parsed_total", Kind: counter, Unit: "articles", Labels: labelled("result"), Help: "Pages that were read: selectors, generic (without the site's selectors), nothing (no article), failed."},
		{Name: "dateline_article_fields_total", Kind: counter, Unit: "fields", Labels: labelled("field", "result"), Help: "How selectors did, by field: filled, empty, wrong."},
		{Name: "dateline_selector_changes_total", Kind: counter, Unit: "changes", Labels: labelled("change"), Help: "Changes of sites' selectors: learned, relearned, rolled_back, failed."},
		{Name: "dateline_articles_waiting", Kind: gauge, Unit: "articles", Labels: labelled("stage"), Help: "Pages that wait to be parsed (parse), and changes of articles that wait to be indexed (index), each counted up to 100,000."},
		{Name: "dateline_articles_waiting_seconds", Kind: gauge, Unit: "seconds", Labels: labelled("stage"), Help: "How long the oldest of them waits."},
		{Name: "dateline_searches_total", Kind: counter, Unit: "searches", Labels: labelled("mode", "result"), Help: "Searches, by mode (keyword, semantic, hybrid): ok, failed."},
		{Name: "dateline_search_duration_seconds", Kind: histogram, Unit: "seconds", Labels: labelled("mode"), Help: "How long searches took.",
			bounds: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}},
	}
}

func processList() []Instrument {
	return []Instrument{
		{Name: "dateline_http_requests_total", Kind: counter, Unit: "requests", Labels: labelled("method", "route", "status"), Help: "Answers of the API."},
		{Name: "dateline_http_request_duration_seconds", Kind: histogram, Unit: "seconds", Labels: labelled("route"), Help: "How long they took.",
			bounds: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}},
		{Name: "dateline_clock_offset_seconds", Kind: gauge, Unit: "seconds", Help: "How far this host's clock is ahead of the database's."},
		{Name: "dateline_memory_limit_bytes", Kind: gauge, Unit: "bytes", Help: "What this process may use: the smallest of GOMEMLIMIT, its control group's limit and the host's memory."},
		{Name: "dateline_disk_bytes", Kind: gauge, Unit: "bytes", Labels: labelled("place", "state"), Help: "Room on the disks of the data directory (data) and of temporary files (temporary): free, size."},
		{Name: "dateline_certificate_ends_seconds", Kind: gauge, Unit: "seconds", Labels: labelled("place"), Help: "Until the certificate ends that is shown at DATELINE_PUBLIC_URL (public), at DATABASE_URL, TEMPORAL_ADDRESS, S3_ENDPOINT and REDIS_URL (database, temporal, objects, redis), where these use TLS."},
		{Name: "dateline_keyset_age_seconds", Kind: gauge, Unit: "seconds", Help: "Since the keys that seal tokens changed last: the age of the file DATELINE_KEYSET."},
		{Name: "dateline_build_info", Kind: gauge, Unit: "1", Labels: labelled("version"), Help: "Always 1; tells the version."},
	}
}

func enginesList() []Instrument {
	return []Instrument{
		{Name: "dateline_engine_up", Kind: gauge, Unit: "1", Labels: labelled("engine"), Help: "1 while an engine answers: database, redis, temporal, objects, clock, worker."},
		{Name: "dateline_engine_cpu_seconds_total", Kind: counter, Unit: "seconds", Labels: labelled("engine"), Help: "Processor time of the engines that `dateline up` runs itself."},
		{Name: "dateline_engine_memory_bytes", Kind: gauge, Unit: "bytes", Labels: labelled("engine"), Help: "Memory of the engines that `dateline up` runs itself, what their processes share counted once."},
		{Name: "dateline_database_connections", Kind: gauge, Unit: "connections", Labels: labelled("state"), Help: "Connections of this process to Postgres: in_use, idle, most."},
		{Name: "dateline_database_server_connections", Kind: gauge, Unit: "connections", Labels: labelled("state"), Help: "Connections of everybody to the Postgres server: used, most."},
		{Name: "dateline_database_size_bytes", Kind: gauge, Unit: "bytes", Help: "Size of Dateline's database."},
		{Name: "dateline_redis_connections", Kind: gauge, Unit: "connections", Labels: labelled("state"), Help: "Connections of this process to Redis: in_use, idle."},
		{Name: "dateline_redis_server_connections", Kind: gauge, Unit: "connections", Labels: labelled("state"), Help: "Connections of everybody to Redis, of a cluster to the fullest node: used, most."},
		{Name: "dateline_redis_memory_bytes", Kind: gauge, Unit: "bytes", Labels: labelled("state"), Help: "Memory of Redis, of a cluster of the fullest node: used, and most where it has a limit."},
		{Name: "dateline_temporal_backlog", Kind: gauge, Unit: "tasks", Labels: labelled("task_queue", "kind"), Help: "Tasks in Temporal's queues that no worker has taken yet, about, of workflows and activities."},
		{Name: "dateline_temporal_backlog_age_seconds", Kind: gauge, Unit: "seconds", Labels: labelled("task_queue", "kind"), Help: "How long the oldest of them waits, about."},
	}
}
