package workflows

import (
	"time"
)

// CrawlQueue runs the crawler, so that no slow site delays a post.
const CrawlQueue = "dateline-crawl"

// Names by which the crawler's workflows are started.
const (
	CrawlWorkflow       = "Crawl"
	CrawlDomainWorkflow = "CrawlDomain"
	RebuildSeenWorkflow = "RebuildSeen"
	SweepPagesWorkflow  = "SweepPages"
	ExportPagesWorkflow = "ExportPages"
)

// Ids of the crawler's schedules.
const (
	CrawlSchedule       = "crawl"
	RebuildSeenSchedule = "rebuild-seen"
	SweepPagesSchedule  = "sweep-pages"
)

// Signals of the CrawlDomain workflow. None has an input.
const (
	SignalPause  = "pause"
	SignalResume = "resume"
	SignalRunNow = "run_now"
	SignalEmpty  = "empty"
)

// CrawlDomainID is the workflow id of a domain's crawl.
func CrawlDomainID(domain string) string { return "crawl/" + domain }

// ExportID is the workflow id of an export.
func ExportID(export string) string { return "export/" + export }

// CrawlDomainInput starts a CrawlDomain workflow.
type CrawlDomainInput struct {
	Domain string
}

// CrawlDomainResult is what a CrawlDomain workflow did since it last continued
// as new.
type CrawlDomainResult struct {
	Fetched int
	Stored  int
	Found   int
}

// CrawlResult is what a run of the schedule did.
type CrawlResult struct {
	Seeds   int
	Started int
	Running int // that were drained already
}

// ExportPagesInput starts an ExportPages workflow.
type ExportPagesInput struct {
	Domain   string
	From, To time.Time
	Key      string
}
