package api

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/ops/status"
)

// System looks how the installation is; engines asks what each says.
type System interface {
	Look(ctx context.Context, workspace uuid.UUID, engines func(context.Context) map[string]string) status.Report
}

// GetSystem says how the installation is.
func (s *Server) GetSystem(ctx context.Context, _ spec.GetSystemRequestObject) (spec.GetSystemResponseObject, error) {
	looking, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	r := s.System.Look(looking, principal(ctx).WorkspaceID, s.engines)
	out := spec.GetSystem200JSONResponse{At: r.At.UTC(), Version: r.Version, Clock: s.clockJSON(), Engines: []spec.EngineState{}, Armed: r.Armed,
		DeadLetters: r.Dead, Lateness: []spec.SystemLateness{}, Queues: []spec.TemporalQueue{}, Alerts: []spec.SystemAlert{}}
	out.Accounts.NeedReconnect, out.Accounts.FirstEnd = r.Accounts.NeedReconnect, r.Accounts.FirstEnd
	if out.DeadLetters == nil {
		out.DeadLetters = map[string]int64{}
	}
	if p := r.Posts; p != nil {
		out.Posts = &spec.WaitingPosts{Scheduled: p.Scheduled, Due: p.Due, Overdue: p.Overdue, Publishing: p.Publishing, Parked: p.Parked,
			Deliveries: p.Deliveries, DeadDeliveries: p.DeadDeliveries}
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
		out.Engines = append(out.Engines, spec.EngineState{Name: name, Answers: r.Engines[name] == "", Says: optional(r.Engines[name]), Uses: usesOf(r, name)})
	}
	for _, l := range r.Lateness {
		out.Lateness = append(out.Lateness, spec.SystemLateness{Network: optional(l.Network), Sent: l.Sent,
			P50Ms: milliseconds(l.Median), P99Ms: milliseconds(l.P99), MaxMs: milliseconds(l.Latest)})
	}
	for _, q := range r.Queues {
		out.Queues = append(out.Queues, queueJSON(q))
	}
	for _, a := range r.Alerts {
		one := spec.SystemAlert{Name: a.Name, Severity: spec.SystemAlertSeverity(a.Severity), About: optional(a.About), Message: a.Message}
		if a.Value != 0 {
			one.Value = &a.Value
		}
		out.Alerts = append(out.Alerts, one)
	}
	return out, nil
}

// engines makes the checks and gives what each says: empty when all is well.
func (s *Server) engines(ctx context.Context) map[string]string {
	said := make(map[string]string, len(s.Checks))
	for name, err := range RunChecks(ctx, s.Checks) {
		said[name] = ""
		if err != nil {
			// Addresses and credentials in the cause are for the log only.
			s.Log.WarnContext(ctx, "not ready", "check", name, "error", err)
			said[name] = "does not answer"
			var told interface{ Advice() string }
			if errors.As(err, &told) {
				said[name] = told.Advice()
			}
		}
	}
	return said
}

// usesOf says how full an engine is, as far as is known.
func usesOf(r status.Report, engine string) []spec.EngineUse {
	uses := []spec.EngineUse{}
	add := func(what, place string, f status.Fullness) {
		one := spec.EngineUse{What: what, Place: optional(place), Used: f.Used}
		if f.Most > 0 {
			one.Most = &f.Most
		}
		uses = append(uses, one)
	}
	switch engine {
	case "database":
		if r.Database != nil {
			add("connections", "", *r.Database)
		}
	case "redis":
		for _, what := range slices.Sorted(maps.Keys(r.Redis)) {
			add(what, "", r.Redis[what])
		}
	case "objects":
		for _, place := range slices.Sorted(maps.Keys(r.Disks)) {
			add("disk", place, r.Disks[place])
		}
	}
	return uses
}

func queueJSON(q status.Queue) spec.TemporalQueue {
	out := spec.TemporalQueue{Name: q.Name, Kind: spec.TemporalQueueKind(q.Kind), Waiting: q.Waiting, OldestMs: milliseconds(q.Oldest)}
	if q.Start != nil {
		steps := int64(min(q.Start.Steps, 1<<53)) //nolint:gosec // bounded
		median, p95 := milliseconds(q.Start.Median.Round(time.Millisecond)), milliseconds(q.Start.P95.Round(time.Millisecond))
		out.Steps, out.StartP50Ms, out.StartP95Ms = &steps, &median, &p95
	}
	return out
}
