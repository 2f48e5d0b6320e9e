package api

import (
	"context"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/measure"
	"dateline/internal/publishing/postreport"
)

// MetricsStore reads the metrics of posts.
type MetricsStore interface {
	postreport.Store
	PostMetrics(ctx context.Context, post uuid.UUID) ([]measure.PostPart, error)
}

// PostMetrics returns what the networks report about a post.
func (s *PostReportHandler) PostMetrics(
	ctx context.Context, r spec.PostMetricsRequestObject,
) (spec.PostMetricsResponseObject, error) {
	p, err := s.Store.PostInWorkspace(ctx, principal(ctx).WorkspaceID, r.Id)
	if err != nil {
		return nil, err
	}
	parts, err := s.Store.PostMetrics(ctx, p.ID)
	out := spec.PostMetrics200JSONResponse{PostId: p.ID, Parts: []spec.PostMetricsPart{}}
	for i := range parts {
		part := &parts[i]
		one := spec.PostMetricsPart{
			TargetId: part.TargetID, AccountId: part.AccountID, Account: part.Account,
			Network: part.Network, Part: part.Segment,
			RemoteId: part.RemoteID, Url: optional.Of(part.RemoteURL), PostedAt: part.PostedAt,
			State:      spec.PostMetricsPartState(part.State),
			MeasuredAt: optional.OfTime(part.MeasuredAt), NextAt: optional.OfTime(part.DueAt),
			Latest:   metricValues(part.Latest),
			Readings: []spec.MetricReading{},
		}
		for _, point := range part.Series {
			one.Readings = append(one.Readings, spec.MetricReading{
				Metric: string(point.Metric), At: point.At, Value: point.Value,
			})
		}
		out.Parts = append(out.Parts, one)
	}
	return out, err
}

func metricValues[Name ~string](values map[Name]int64) spec.MetricValues {
	out := spec.MetricValues{}
	for name, value := range values {
		out[string(name)] = value
	}
	return out
}

// addMeasuring adds the state of reading metrics to an account.
func (s *AccountHandler) addMeasuring(out *spec.Account, a account.Account, status measure.Status) {
	rules, ok := s.Accounts.Measuring(a)
	if !ok {
		return
	}
	m := spec.AccountMeasuring{
		State: spec.AccountMeasuringStateActive, MissingScope: optional.Of(status.MissingScope),
		ReadAt: optional.OfTime(status.ReadAt),
	}
	// A newer token or other settings resume reading.
	current := status.TokenVersion == a.TokenVersion
	switch {
	case rules.Unsupported != "":
		m.State, m.Message = spec.AccountMeasuringStateUnsupported, &rules.Unsupported
	case rules.IsPaid && a.Settings[measure.SettingReads] == "":
		reason := string(measure.ReasonNoBudget)
		m.State, m.Reason = spec.AccountMeasuringStatePaused, &reason
	case status.Reason != "" && status.Reason != measure.ReasonNoBudget && current:
		reason := string(status.Reason)
		m.State, m.Reason, m.Message, m.ResumeAt = spec.AccountMeasuringStatePaused, &reason,
			optional.Of(status.Message),
			optional.OfTime(status.ResumeAt)
	}
	if rules.IsPaid {
		m.ChargedReads = &status.ChargedReads
	}
	m.Metrics = &rules.Metrics
	out.Measuring = &m
}
