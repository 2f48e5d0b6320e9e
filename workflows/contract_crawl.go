package workflows

import (
	"time"
)

// CrawlQueue is the task queue of the crawler. It is separate, so that slow
// sites do not delay posts.
const CrawlQueue = "dateline-crawl"

// Names of the crawler's workflows.
const (
	CrawlWorkflow                 = "Crawl"
	CrawlDomainWorkflow           = "CrawlDomain"
	RebuildURLFilterWorkflow      = "RebuildURLFilter"
	DeleteOldPageVersionsWorkflow = "DeleteOldPageVersions"
	ExportPagesWorkflow           = "ExportPages"
)

// IDs of the crawler's schedules.
const (
	CrawlSchedule                 = "crawl"
	RebuildURLFilterSchedule      = "rebuild-url-filter"
	DeleteOldPageVersionsSchedule = "delete-old-page-versions"
)

// Signals of the CrawlDomain workflow. They have no payload.
const (
	SignalPause  = "pause"
	SignalResume = "resume"
	SignalRunNow = "run_now"
	SignalEmpty  = "empty"
)

// CrawlDomainID is the workflow ID of a domain's crawl.
func CrawlDomainID(domain string) string { return "crawl/" + domain }

// ExportID is the workflow ID of an export.
func ExportID(export string) string { return "export/" + export }

// CrawlDomainInput is the input of the CrawlDomain workflow.
type CrawlDomainInput struct {
	Domain string
}

// CrawlDomainResult counts what a CrawlDomain workflow did since it last
// continued as new.
type CrawlDomainResult struct {
	Fetched int
	Stored  int
	Found   int
}

// CrawlResult counts what a run of the schedule did.
type CrawlResult struct {
	Seeds   int
	Started int
	Running int // domains that were being crawled already
}

// ExportPagesInput is the input of the ExportPages workflow.
type ExportPagesInput struct {
	Domain   string
	From, To time.Time
	Key      string
}
