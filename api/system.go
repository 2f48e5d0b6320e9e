package api

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/optional"
	"dateline/internal/system/status"
)

// SystemHandler serves the state of the installation.
type SystemHandler struct {
	Build  string // version, commit and date of the program
	Checks map[string]Check
	System System
	Clock  Clock // nil: not checked
	Log    *slog.Logger

	proxies proxyWatch
}

// System reports the state of the installation. engines returns the error of each
// engine, which is empty if it is healthy.
type System interface {
	Report(ctx context.Context, workspace uuid.UUID, engines func(context.Context) map[string]string) status.Report
}

// GetSystem returns the state of the installation.
func (s *SystemHandler) GetSystem(
	ctx context.Context, _ spec.GetSystemRequestObject,
) (spec.GetSystemResponseObject, error) {
	reportCtx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	r := s.System.Report(reportCtx, principal(ctx).WorkspaceID, s.engines)
	out := spec.GetSystem200JSONResponse{
		At: r.At.UTC(), Version: r.Version, Clock: s.clockJSON(),
		Engines: []spec.EngineStatus{}, Armed: r.Armed,
		DeadLetters: r.DeadLetters, Lateness: []spec.SystemLateness{}, Queues: []spec.TaskQueue{},
		Alerts: []spec.SystemAlert{},
	}
	if z := r.Zones; z != nil {
		out.TimeZones = spec.TimeZoneDatabase{Version: z.Version, Source: z.Source}
	}
	out.Accounts.NeedsReconnect, out.Accounts.FirstExpiry = r.Accounts.NeedsReconnect, r.Accounts.FirstExpiry
	if out.DeadLetters == nil {
		out.DeadLetters = map[string]int64{}
	}
	if p := r.Posts; p != nil {
		out.Posts = &spec.Backlog{
			Scheduled: p.Scheduled, Due: p.Due, Overdue: p.Overdue, Publishing: p.Publishing,
			Parked:            p.Parked,
			PendingDeliveries: p.Deliveries, FailedDeliveries: p.FailedDeliveries,
		}
	}
	if c := r.Crawl; c != nil {
		out.Crawl = &struct {
			SeedsDue     int64 `json:"seeds_due"`
			SeedsOverdue int64 `json:"seeds_overdue"`
		}{c.SeedsDue, c.SeedsOverdue}
	}
	if v := r.Readers; v != nil {
		out.Readers = &struct {
			QuarantinedRecords int64 `json:"quarantined_records"`
		}{v.Quarantined}
	}
	if r.Size > 0 {
		out.DatabaseBytes = &r.Size
	}
	for _, name := range slices.Sorted(maps.Keys(r.Engines)) {
		out.Engines = append(out.Engines, spec.EngineStatus{
			Name: name, Healthy: r.Engines[name] == "", Error: optional.Of(r.Engines[name]),
			Usage: engineUsage(r, name),
		})
	}
	for _, l := range r.Lateness {
		out.Lateness = append(out.Lateness, spec.SystemLateness{
			Network: optional.Of(l.Network), Sent: l.Sent,
			P50Ms: milliseconds(l.Median), P99Ms: milliseconds(l.P99), MaxMs: milliseconds(l.Max),
		})
	}
	for _, q := range r.Queues {
		out.Queues = append(out.Queues, queueJSON(q))
	}
	if s.proxies.isMissing(time.Now()) {
		r.Alerts = append(r.Alerts, status.ProxyAlert())
	}
	for _, a := range r.Alerts {
		one := spec.SystemAlert{
			Name: a.Name, Severity: spec.SystemAlertSeverity(a.Severity), Subject: optional.Of(a.Subject),
			Message: a.Message, Params: messageParams(a.Params),
		}
		if a.Value != 0 {
			one.Value = &a.Value
		}
		out.Alerts = append(out.Alerts, one)
	}
	return out, nil
}

// engines runs the health checks and returns the error of each engine, which is empty
// if it is healthy.
func (s *SystemHandler) engines(ctx context.Context) map[string]string {
	failures := make(map[string]string, len(s.Checks))
	for name, err := range RunChecks(ctx, s.Checks) {
		failures[name] = ""
		if err != nil {
			// The cause can contain addresses and credentials, so only the log has it.
			s.Log.WarnContext(ctx, "health check failed", "check", name, "error", err)
			failures[name] = "does not answer"
			var advised interface{ Advice() string }
			if errors.As(err, &advised) {
				failures[name] = advised.Advice()
			}
		}
	}
	return failures
}

// engineUsage returns the usage of an engine's resources, as far as it is known.
func engineUsage(r status.Report, engine string) []spec.ResourceUsage {
	all := []spec.ResourceUsage{}
	add := func(resource, volume string, u status.Usage) {
		one := spec.ResourceUsage{Resource: resource, Volume: optional.Of(volume), Used: u.Used}
		if u.Max > 0 {
			one.Max = &u.Max
		}
		all = append(all, one)
	}
	switch engine {
	case "database":
		if r.Database != nil {
			add("connections", "", *r.Database)
		}
	case "redis":
		for _, resource := range slices.Sorted(maps.Keys(r.Redis)) {
			add(resource, "", r.Redis[resource])
		}
	case "objects":
		for _, volume := range slices.Sorted(maps.Keys(r.Disks)) {
			add("disk", volume, r.Disks[volume])
		}
	}
	return all
}

func queueJSON(q status.Queue) spec.TaskQueue {
	out := spec.TaskQueue{
		Name: q.Name, Kind: spec.TaskQueueKind(q.Kind), Pending: q.Pending,
		OldestMs: milliseconds(q.Oldest),
	}
	if q.Start != nil {
		tasks := int64(min(q.Start.Tasks, 1<<53)) //nolint:gosec // bounded
		median, p95 := milliseconds(q.Start.Median.Round(time.Millisecond)),
			milliseconds(q.Start.P95.Round(time.Millisecond))
		out.StartedTasks, out.StartP50Ms, out.StartP95Ms = &tasks, &median, &p95
	}
	return out
}
