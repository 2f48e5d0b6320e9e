// Package status says how an installation is: what waits of a workspace, how
// late its posts were sent, whether the engines answer and how full they are, and
// what of all that is wrong. It tells it to people; what is told to machines, and
// kept over time, are the metrics.
package status

import (
	"time"

	"dateline/internal/infra/dbclock"
)

// Report is one look. What did not answer is left out of it; Engines says so.
type Report struct {
	At       time.Time
	Version  string            // of the process that looked
	Engines  map[string]string // by name: empty when it answers, else a sentence
	Clock    dbclock.Reading   // of this process's host
	Posts    *Posts
	Armed    *int64 // held ready by this process; nil: its worker is another process
	Dead     map[string]int64
	Lateness []Lateness
	Queues   []Queue
	Accounts Accounts
	Crawl    *Crawl   // nil: there is none
	Readers  *Readers // nil: readers are not counted
	Database *Fullness
	Size     int64 // of the database, in bytes
	Redis    map[string]Fullness
	Disks    map[string]Fullness
	Alerts   []Alert
}

// Posts are the numbers of what waits of a workspace.
type Posts struct {
	Scheduled      int64
	Due            int64 // within a minute
	Overdue        int64 // by more than 30 s
	Publishing     int64
	Parked         int64 // with dead letters
	FreshlyDead    int64 // dead letters of the last quarter of an hour
	Deliveries     int64 // of webhooks, that have not arrived
	DeadDeliveries int64
}

// Lateness says how late posts were sent.
type Lateness struct {
	Network             string // empty: of all together
	Sent                int64
	Median, P99, Latest time.Duration
}

// Queue is one of Temporal's.
type Queue struct {
	Name    string
	Kind    string // workflow or activity
	Waiting int64  // about
	Oldest  time.Duration
	Start   *Start // nil: its workers are other processes
}

// Start says how long steps of a queue waited for a worker of this process, since
// that began.
type Start struct {
	Steps       uint64
	Median, P95 time.Duration
}

// Accounts are those of a workspace that need a person.
type Accounts struct {
	NeedReconnect int64
	FirstEnd      *time.Time // of access that cannot be renewed
}

// Crawl counts the seeds of the installation.
type Crawl struct {
	SeedsDue, SeedsOverdue int64
}

// Readers says how the counts of readers are kept.
type Readers struct {
	Quarantined int64 // records in Redis that could not be read
}

// Fullness says how much of something is in use.
type Fullness struct {
	Used, Most int64 // Most 0: there is no limit
}

// Share is what is in use, from 0 to 1; without a limit it is 0.
func (f Fullness) Share() float64 {
	if f.Most <= 0 {
		return 0
	}
	return float64(f.Used) / float64(f.Most)
}
