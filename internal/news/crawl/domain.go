package crawl

import (
	"time"

	"dateline/internal/news/crawl/weburl"
)

// Domain is a registered domain (eTLD+1), shared by all workspaces that crawl it.
type Domain struct {
	ID           int
	Name         string
	PausedAt     *time.Time
	PauseReason  string
	Epoch        int // increases when the frontier is emptied
	Rules        weburl.Rules
	Render       bool          // pages are rendered in a browser before they are stored
	Score        float64       // how often its hubs had new links, 0 to 1
	ResponseTime time.Duration // moving average
	CrawlDelay   time.Duration // requested by robots.txt
	NotBefore    *time.Time    // no requests until then
	NextDue      *time.Time
	LastCrawl    *time.Time
	LeasedUntil  *time.Time // a worker crawls it until then
	BudgetUsed   int        // pages fetched today
	Fetched      int64
	Stored       int64
	Unchanged    int64
	Failed       int64
	Timeouts     int64
	Excluded     int64
	Bytes        int64
	CreatedAt    time.Time
}

// StateCount counts the URLs of a domain in one state.
type StateCount struct {
	State  State
	URLs   int64
	Due    int64
	Leased int64
}

// StatusCount counts the URLs of a domain by the status of their last response.
type StatusCount struct {
	Status int
	URLs   int64
}

// WeeklyStats are figures of the articles that were extracted in the last week.
type WeeklyStats struct {
	Articles   int64
	Duplicates int64 // articles with the text of another one, on this site or another
	// Measured articles state their time of publication, and were published after
	// the domain was added. The other fields describe how long the crawl took to
	// discover them.
	Measured int64
	Late     int64 // discovered more than 30 minutes after publication
	P50, P95 time.Duration
}

// PageWithoutArticle is a page that was fetched, and why it contains no article.
type PageWithoutArticle struct {
	URL    string
	At     time.Time // when it was fetched
	Reason string    // a code
	Detail string    // in words
}

// FetchError is the last fetch of a URL, if it failed.
type FetchError struct {
	URL    string
	State  State
	Status int    // of the last response; 0: none
	Reason string // a code and an explanation, see Problem
	At     *time.Time
}
