package main

import (
	"fmt"
	"math"
	"time"
)

// Figure is one input of the model.
type Figure struct {
	Name   string
	Value  float64
	Unit   string
	Source string // measured: where; assumed: why
}

// Measured returns unit costs that were measured on 2 cores; the sources name the
// page of docs/.
func Measured() []Figure {
	return []Figure{
		{"post.transitions", 7, "state transitions", "performance.md, cost: one target"},
		{
			"post.transitions.target", 3.5, "state transitions for each further target",
			"performance.md, cost: 14 for a post with three",
		},
		{"post.history", 2672, "bytes of history", "performance.md, cost: one target"},
		{"post.cpu.dateline", 10, "ms of a core in Dateline", "performance.md, processor time, with scheduling"},
		{"post.cpu.temporal", 24, "ms of a core in Temporal", "the same; on one machine, with SQLite"},
		{"post.cpu.postgres", 4, "ms of a core in Postgres", "the same"},
		{
			"post.memory.armed", 0.13, "MB for a post armed in memory",
			"design: 10,000 posts, 1.3 GB for server and worker",
		},
		{
			"database.claims", 3000, "posts claimed a second by one database",
			"delivery-engine.md, bursts: claims of 3,000 take a second",
		},
		{"view.cpu.redis", 14, "µs of Redis' processor", "performance.md, counting: over HTTP"},
		{"view.page.memory", 3, "kB of Redis for an active page", "counting.md, unique visitors: HyperLogLog"},
		{"view.visit.memory", 5, "bytes of Redis for each hit of the last two hours", "counting.md, the window"},
		{"crawl.transitions", 0.05, "state transitions of a page", "crawling.md, workflows"},
		{
			"crawl.row", 400, "bytes of Postgres for a URL, indexes included",
			"crawling.md, at size: 40 GB for 100 million",
		},
	}
}

// Assumed returns numbers that were not measured. Replace them by your own.
func Assumed() []Figure {
	return []Figure{
		{"users", 1e6, "users", "the target; what they do is below"},
		{"posts", 10e6, "posts a day", "the target"},
		{"targets", 1.5, "accounts of a post", "most posts go to one or two"},
		{"posts.peak", 3, "times the mean, in the busiest hour", "newsrooms publish by day"},
		{"posts.second", 0.02, "of an hour's posts due at its full hour's second", "people choose round times"},
		{
			"post.rows", 6, "kB of Postgres for a post: rows, events, ledger, indexes",
			"summed from the schema, texts of 500 bytes",
		},
		{"post.retention", 365, "days that posts are stored", "nothing deletes them"},
		{"views", 100e3, "views a second at the peak", "the target"},
		{"views.mean", 0.4, "of the peak, over the day", "readers sleep"},
		{"pages.active", 2e6, "pages with a reader in two hours", "a tail of archives"},
		{"pages.minute", 250e3, "pages with a reader in a minute", "Zipf over the active ones"},
		{"sites", 100e3, "sites", "the target"},
		{"pages.site", 30, "new pages of a site a day", "a mean of large and small"},
		{"hubs.site", 3, "hubs of a site", "front page, section, feed"},
		{"hub.interval", 15, "minutes between two fetches of a hub", "seeds are fetched every 5 to 20"},
		{"hub.new", 0.05, "of the fetches of a hub find it changed", "the rest are 304"},
		{"urls.site", 3000, "URLs known of a site", "after a year"},
		{"page.stored", 25, "kB of a stored page", "compressed with zstd"},
		{"page.versions", 2, "versions of a page", "articles are corrected"},
		{"history.retention", 7, "days that Temporal stores histories", "the namespace's retention"},
		{
			"temporal.core", 400, "state transitions a second and core of a cluster",
			"published figures of clusters on Postgres and Cassandra are 300 to 600; measure yours",
		},
		{"view.flush.row", 0.4, "ms of a core in Postgres for a page and minute", "five small upserts; not measured"},
		{
			"view.cpu.ingest", 41, "µs of a core in the API for a hit",
			"performance.md, counting: over HTTP, server and client together",
		},
		{
			"crawl.cpu", 6, "ms of a core for a page, fetched, stored and its links read",
			"how long a fetch took on loopback, as an upper bound",
		},
		{"utilization", 0.6, "of a processor that may be used at the peak", "spare capacity for a failed machine"},
		{"redis.core", 1, "core of a Redis node that runs scripts", "Redis runs them on one thread"},
		{"node.cores", 8, "cores of a node", "what clouds sell"},
		{"replicas", 3, "nodes at least, of whatever must be available", "one may fail while another is upgraded"},
	}
}

// Need is a required amount of one resource.
type Need struct {
	Name   string
	Amount float64
	Unit   string
	Why    string
}

// Model computes needs from figures.
type Model struct{ figures map[string]float64 }

// NewModel returns a model with the figures, some of them replaced.
func NewModel(replace map[string]float64) (*Model, error) {
	m := &Model{map[string]float64{}}
	for _, f := range append(Measured(), Assumed()...) {
		m.figures[f.Name] = f.Value
	}
	for name, value := range replace {
		if _, ok := m.figures[name]; !ok {
			return nil, fmt.Errorf("unknown figure %q", name)
		}
		if value < 0 || math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, fmt.Errorf("%s cannot be %g", name, value)
		}
		m.figures[name] = value
	}
	return m, nil
}

func (m *Model) get(name string) float64 { return m.figures[name] }

const day = float64(24 * time.Hour / time.Second)

// PostRate returns posts per second in the busiest hour.
func (m *Model) PostRate() float64 { return m.get("posts") / day * m.get("posts.peak") }

// postTransitions returns the state transitions of a post with the usual number of
// targets.
func (m *Model) postTransitions() float64 {
	return m.get("post.transitions") + (m.get("targets")-1)*m.get("post.transitions.target")
}

// PageRate returns the crawler's requests per second: hubs and new pages.
func (m *Model) PageRate() (hubs, pages float64) {
	hubs = m.get("sites") * m.get("hubs.site") / (m.get("hub.interval") * 60)
	return hubs, m.get("sites") * m.get("pages.site") / day
}

// nodes returns how many nodes have that many cores, with spare capacity.
func (m *Model) nodes(cores float64) float64 {
	return math.Max(m.get("replicas"), math.Ceil(cores/m.get("utilization")/m.get("node.cores")))
}

// Needs returns what the figures require.
func (m *Model) Needs() []Need {
	rate, sends := m.PostRate(), m.PostRate()*m.get("targets")
	hubs, pages := m.PageRate()
	burst := rate * 3600 * m.get("posts.second") * m.get("targets")
	transitions := rate*m.postTransitions() + (hubs+pages)*m.get("crawl.transitions")
	postCores := rate * m.get("post.cpu.dateline") * m.get("targets") / 1e3
	crawlCores := (pages + hubs*m.get("hub.new")) * m.get("crawl.cpu") / 1e3
	ingest := m.get("views") * m.get("view.cpu.ingest") / 1e6
	flush := m.get("pages.minute") / 60 * m.get("view.flush.row") / 1e3
	redis := m.get("views") * m.get("view.cpu.redis") / 1e6 / m.get("redis.core") / m.get("utilization")
	claims := rate * m.get("targets") * m.get("post.cpu.postgres") / 1e3
	return []Need{
		{"posts a second, busiest hour", rate, "/s", "posts, posts.peak"},
		{"calls to networks a second", sends, "/s", "targets"},
		{"posts due at one second", burst, "", "posts.second: they are armed up to 10 minutes ahead"},
		{"Temporal: state transitions a second", transitions, "/s", "post.transitions, crawl.transitions"},
		{
			"Temporal: cores of history and matching", transitions / m.get("temporal.core") / m.get("utilization"),
			"cores", "temporal.core",
		},
		{
			"Temporal: cores, by one machine's figure", rate * m.get("post.cpu.temporal") / 1e3 / m.get("utilization"),
			"cores", "post.cpu.temporal: to compare, of a single server on SQLite",
		},
		{
			"Temporal: history shards", shards(transitions), "",
			"about 2 transitions a second and shard, a power of two; cannot be changed later",
		},
		{
			"Temporal: histories", m.get("posts") * m.get("post.history") * m.get("history.retention") / 1e12, "TB",
			"post.history, history.retention",
		},
		{"workers: cores", (postCores + crawlCores) / m.get("utilization"), "cores", "post.cpu.dateline, crawl.cpu"},
		{"workers: nodes", m.nodes(postCores + crawlCores), "nodes", "node.cores"},
		{
			"workers: memory for the burst", burst * m.get("post.memory.armed") / 1e3, "GB",
			"post.memory.armed, over all workers",
		},
		{
			"database: seconds to claim the burst", burst / m.get("database.claims"), "s",
			"database.claims: above 2, posts of one second are late by the rest",
		},
		{"database: cores", (claims + flush) / m.get("utilization"), "cores", "post.cpu.postgres, view.flush.row"},
		{
			"database: posts", m.get("posts") * m.get("post.retention") * m.get("post.rows") / 1e9, "TB",
			"post.rows, post.retention",
		},
		{
			"database: frontier", m.get("sites") * m.get("urls.site") * m.get("crawl.row") / 1e12, "TB",
			"urls.site, crawl.row",
		},
		{"API: cores for views", ingest / m.get("utilization"), "cores", "view.cpu.ingest"},
		{"API: nodes", m.nodes(ingest), "nodes", "node.cores"},
		{
			"Redis: masters", math.Max(m.get("replicas"), math.Ceil(redis)), "nodes",
			"view.cpu.redis: a master runs scripts on one core; at most 16, the number of shards",
		},
		{
			"Redis: memory", (m.get("pages.active")*m.get("view.page.memory")*1e3 +
				m.get("views")*m.get("views.mean")*7200*m.get("view.visit.memory")) / 1e9, "GB",
			"view.page.memory, view.visit.memory",
		},
		{"crawler: requests a second", hubs + pages, "/s", "hubs.site, hub.interval, pages.site"},
		{
			"crawler: concurrent sites", hubs + pages, "",
			"a second for each request and site: DATELINE_CRAWL_MAX_DOMAINS",
		},
		{
			"object store: a year of pages",
			m.get("sites") * m.get("pages.site") * 365 * m.get("page.stored") * m.get("page.versions") / 1e9, "TB",
			"page.stored, page.versions",
		},
	}
}

// shards returns the power of two that gives each shard about two transitions per
// second.
func shards(transitions float64) float64 {
	return math.Exp2(math.Ceil(math.Log2(math.Max(transitions/2, 4))))
}
