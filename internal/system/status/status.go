// Package status reports the state of an installation for the dashboard: the backlog
// and the lateness of a workspace, the health and the capacity of the engines, and the
// alerts that follow from them. Metrics over time are in infra/telemetry.
package status

import (
	"time"

	"dateline/internal/infra/dbclock"
	"dateline/internal/infra/timezone"
)

// Report is a snapshot of the installation. Data of an engine that is down is missing;
// Engines contains the reason.
type Report struct {
	At          time.Time
	Version     string            // of the reporting process
	Engines     map[string]string // error by engine name; empty if it is healthy
	Clock       dbclock.Reading   // offset of this host
	Zones       *timezone.Database
	Posts       *Posts
	Armed       *int64           // posts armed by this process; nil if the worker is another process
	DeadLetters map[string]int64 // by reason
	Lateness    []Lateness
	Queues      []Queue
	Accounts    Accounts
	Crawl       *Crawl   // nil if the crawler is off
	Readers     *Readers // nil if view counting is off
	Database    *Usage
	Size        int64 // database size in bytes
	Redis       map[string]Usage
	Disks       map[string]Usage
	Alerts      []Alert
}

// Posts contains the backlog of a workspace.
type Posts struct {
	Scheduled        int64
	Due              int64 // within a minute
	Overdue          int64 // by more than 30 s
	Publishing       int64
	Parked           int64 // with dead letters
	NewDeadLetters   int64 // dead letters of the last 15 minutes
	Deliveries       int64 // pending webhook deliveries
	FailedDeliveries int64
}

// Lateness is the distribution of how late posts were sent.
type Lateness struct {
	Network          string // empty for all networks together
	Sent             int64
	Median, P99, Max time.Duration
}

// Queue is the state of a Temporal task queue.
type Queue struct {
	Name    string
	Kind    string // workflow or activity
	Pending int64  // approximate
	Oldest  time.Duration
	Start   *StartLatency // nil if its workers are other processes
}

// StartLatency is the schedule-to-start latency of the tasks that this process has
// executed.
type StartLatency struct {
	Tasks       uint64
	Median, P95 time.Duration
}

// Accounts counts the accounts of a workspace that need attention.
type Accounts struct {
	NeedsReconnect int64
	FirstExpiry    *time.Time // of access that is not renewable
}

// Crawl counts the due seeds of the installation.
type Crawl struct {
	SeedsDue, SeedsOverdue int64
}

// Readers is the state of view counting.
type Readers struct {
	Quarantined int64 // unreadable records in Redis
}

// Usage is the usage of a limited resource.
type Usage struct {
	Used, Max int64 // Max is 0 if there is no limit
}

// Share returns the used share from 0 to 1; without a limit it is 0.
func (u Usage) Share() float64 {
	if u.Max <= 0 {
		return 0
	}
	return float64(u.Used) / float64(u.Max)
}
