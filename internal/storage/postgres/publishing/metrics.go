package publishing

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"dateline/internal/infra/optional"
	"dateline/internal/publishing/measure"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
	"dateline/platforms/network"
)

// AddMeasuredPosts schedules the first reading of posts of networks that have none.
func (s *MetricsStore) AddMeasuredPosts(
	ctx context.Context, networks, sandboxes []string, since time.Time,
) (int64, error) {
	return s.q.AddMeasuredPosts(ctx, db.AddMeasuredPostsParams{
		Networks: column.List(networks), Sandboxes: column.List(sandboxes), Since: since,
	})
}

// AccountsToMeasure lists accounts with due readings that are not paused.
func (s *MetricsStore) AccountsToMeasure(
	ctx context.Context, networks []string, now time.Time, limit int,
) ([]uuid.UUID, error) {
	return s.q.AccountsToMeasure(ctx, db.AccountsToMeasureParams{
		Networks: column.List(networks), Now: &now, Rows: limit,
	})
}

// MeasuringStatus returns the state of reading an account; the zero Status if it was
// never read.
func (s *MetricsStore) MeasuringStatus(ctx context.Context, account uuid.UUID) (measure.Status, error) {
	row, err := s.q.GetMeasuring(ctx, account)
	if tx.NoRows(err) {
		return measure.Status{AccountID: account}, nil
	}
	return statusFromRow(row), err
}

// MeasuringStatuses returns the states of the accounts of a workspace that were read.
func (s *MetricsStore) MeasuringStatuses(
	ctx context.Context, workspaceID uuid.UUID,
) (map[uuid.UUID]measure.Status, error) {
	rows, err := s.q.ListMeasuring(ctx, workspaceID)
	found := map[uuid.UUID]measure.Status{}
	for _, row := range rows {
		found[row.AccountID] = statusFromRow(row)
	}
	return found, err
}

func statusFromRow(row db.AccountMeasuring) measure.Status {
	m := measure.Status{
		AccountID: row.AccountID, Reason: measure.Reason(row.Reason), Message: row.Message,
		ResumeAt: column.Time(row.ResumeAt),
		Failures: row.Failures, TokenVersion: row.TokenVersion, MissingScope: row.MissingScope,
		ReadAt:       column.Time(row.ReadAt),
		ChargedReads: row.ChargedReads, ChargedMonth: dateOrZero(row.ChargedMonth),
	}
	// The columns are written by SaveMeasuringStatus only.
	_ = json.Unmarshal(row.Settings, &m.Settings)
	_ = json.Unmarshal(row.Refused, &m.Refused)
	return m
}

// SaveMeasuringStatus stores the state of reading an account.
func (s *MetricsStore) SaveMeasuringStatus(ctx context.Context, m measure.Status) error {
	settings, err := settingsJSON(m.Settings)
	if err != nil {
		return err
	}
	refused := json.RawMessage(`{}`)
	if len(m.Refused) > 0 {
		if refused, err = json.Marshal(m.Refused); err != nil {
			return err
		}
	}
	return s.q.SaveMeasuring(ctx, db.SaveMeasuringParams{
		AccountID: m.AccountID, Reason: string(m.Reason),
		Message: m.Message, ResumeAt: optional.OfTime(m.ResumeAt),
		Failures: m.Failures, TokenVersion: m.TokenVersion, Settings: settings, MissingScope: m.MissingScope,
		Refused:      refused,
		ChargedMonth: dateOrNull(m.ChargedMonth), ChargedReads: m.ChargedReads, ReadAt: optional.OfTime(m.ReadAt),
	})
}

// ClaimReadings claims due readings of an account until a time, the most overdue first.
func (s *MetricsStore) ClaimReadings(
	ctx context.Context, account, claim uuid.UUID, now, until time.Time, limit int,
) ([]measure.Reading, error) {
	rows, err := s.q.ClaimReadings(ctx, db.ClaimReadingsParams{
		AccountID: account, Claim: claim, Now: &now, Until: until, Rows: limit,
	})
	found := make([]measure.Reading, len(rows))
	for i, row := range rows {
		found[i] = measure.Reading{
			RemoteID: row.RemoteID, State: measure.State(row.State),
			MissingSince: column.Time(row.MissingSince),
			MeasuredAt:   column.Time(row.MeasuredAt), ChargedOn: dateOrZero(row.ChargedOn),
			PostedAt:    row.PostedAt.UTC(),
			WorkspaceID: row.WorkspaceID,
			PostID:      row.PostID, TargetID: row.TargetID, IsReply: row.IsReply, Kind: row.Kind,
			OwnReplies: row.OwnReplies,
		}
	}
	return found, err
}

// ReleaseReadings ends the claims of a run.
func (s *MetricsStore) ReleaseReadings(ctx context.Context, account, claim uuid.UUID) error {
	return s.q.ReleaseReadings(ctx, db.ReleaseReadingsParams{AccountID: account, Claim: claim})
}

// ReadablePost returns the post of an account that was read last, besides others; "":
// there is none.
func (s *MetricsStore) ReadablePost(ctx context.Context, account uuid.UUID, others []string) (string, error) {
	id, err := s.q.ReadablePost(ctx, db.ReadablePostParams{AccountID: account, Others: column.List(others)})
	if tx.NoRows(err) {
		return "", nil
	}
	return id, err
}

// RecordReadings stores results. Those that another run has claimed since are left
// out, so that a reading is stored once.
func (s *MetricsStore) RecordReadings(ctx context.Context, account, claim uuid.UUID, results []measure.Result) error {
	if len(results) == 0 {
		return nil
	}
	return s.inTx(ctx, func(q *queries) error {
		for i := range results {
			if err := saveMeasurement(ctx, q, account, claim, &results[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func saveMeasurement(ctx context.Context, q *queries, account, claim uuid.UUID, r *measure.Result) error {
	latest := json.RawMessage(`{}`)
	var measuredAt *time.Time
	var metrics []string
	var values []int64
	if r.State == measure.Measured && !r.At.IsZero() {
		measuredAt = &r.At
		for name, value := range r.Values {
			metrics, values = append(metrics, string(name)), append(values, value)
		}
		if r.Values == nil {
			r.Values = map[network.Metric]int64{}
		}
		raw, err := json.Marshal(r.Values)
		if err != nil {
			return err
		}
		latest = raw
	}
	n, err := q.RecordReading(ctx, db.RecordReadingParams{
		AccountID: account, RemoteID: r.RemoteID, Claim: claim,
		State: string(r.State),
		DueAt: optional.OfTime(r.DueAt), MissingSince: optional.OfTime(r.MissingSince), MeasuredAt: measuredAt,
		ChargedOn: dateOrNull(r.ChargedOn), Latest: latest,
	})
	if err != nil || n == 0 {
		return err
	}
	if r.State == measure.Deleted {
		err = q.InsertDeletedEvent(ctx, db.InsertDeletedEventParams{
			PostID: &r.PostID, WorkspaceID: r.WorkspaceID, TargetID: &r.TargetID, Data: json.RawMessage(`{}`),
		})
	}
	if err == nil && len(metrics) > 0 {
		err = q.InsertReadings(ctx, db.InsertReadingsParams{
			AccountID: account, RemoteID: r.RemoteID, Metrics: metrics, Readings: values, At: r.At,
		})
	}
	return err
}

// PostMetrics returns the parts of a post that exist at networks, with all readings.
func (s *MetricsStore) PostMetrics(ctx context.Context, postID uuid.UUID) ([]measure.PostPart, error) {
	rows, err := s.q.PostMetrics(ctx, postID)
	if err != nil {
		return nil, err
	}
	readings, err := s.q.PostMetricReadings(ctx, postID)
	if err != nil {
		return nil, err
	}
	series := map[[2]string][]measure.Point{}
	for _, r := range readings {
		key := [2]string{r.AccountID.String(), r.RemoteID}
		series[key] = append(series[key], measure.Point{
			Metric: network.Metric(r.Metric), At: r.At.UTC(), Value: r.Value,
		})
	}
	parts := make([]measure.PostPart, len(rows))
	for i, r := range rows {
		parts[i] = measure.PostPart{
			TargetID: r.TargetID, AccountID: r.AccountID, Account: r.AccountName,
			Network: r.Network, Segment: r.Segment,
			RemoteID: r.RemoteID, PostedAt: r.PostedAt.UTC(), State: measure.State(r.State),
			MeasuredAt: column.Time(r.MeasuredAt), DueAt: column.Time(r.DueAt),
			Series: series[[2]string{r.AccountID.String(), r.RemoteID}],
		}
		if r.RemoteUrl != nil {
			parts[i].RemoteURL = *r.RemoteUrl
		}
		if err := json.Unmarshal(r.Latest, &parts[i].Latest); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

func dateOrNull(t time.Time) pgtype.Date { return pgtype.Date{Time: t.UTC(), Valid: !t.IsZero()} }

func dateOrZero(d pgtype.Date) time.Time {
	if !d.Valid {
		return time.Time{}
	}
	return d.Time.UTC()
}
