// Package crawltest is a small web for tests, benchmarks and the demonstration:
// news sites that publish over time, with feeds, sitemaps, robots.txt and every
// kind of trouble, and with the truth about what was published when and what
// was asked for when.
package crawltest

import "time"

// Options describe a World.
type Options struct {
	Sites    int           // how many sites; 1
	IPs      int           // how many loopback addresses they are spread over; 1
	Seed     uint64        // of all that is drawn by lot
	Articles int           // that each site has at the start; 20
	Sections int           // that each site has; 3
	OnHub    int           // how many articles a hub shows; 15
	Start    time.Time     // when the last of the first articles was published; now
	Words    int           // of an article's body; 300
	Delay    time.Duration // Crawl-delay in robots.txt; 0: none
}

// Published is an article, as the World knows it.
type Published struct {
	Site   int
	Number int
	URL    string // canonical
	Title  string
	Body   string
	At     time.Time
}

// Asked is one request, as the server saw it.
type Asked struct {
	At     time.Time
	Host   string // without the port
	IP     string // that was asked
	Method string
	Path   string // with the query
	Agent  string
	Status int
	Bytes  int64
	IfNone bool // was conditional
}
