package notify

import (
	"context"
	"time"

	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/notify/db"
	"dateline/internal/system/status"
)

// RecordEngines records which engines are down, as seen by a process, and adds an event
// to all workspaces for each change.
func (s *NotificationStore) RecordEngines(
	ctx context.Context, source string, down []string, stale time.Duration,
) (changed bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		started, err := q.StartSystemAlerts(ctx, db.StartSystemAlertsParams{
			Name: status.EngineDown, Subjects: column.List(down), Source: source,
		})
		if err != nil {
			return err
		}
		ended, err := q.EndSystemAlerts(ctx, db.EndSystemAlertsParams{
			Name: status.EngineDown, Subjects: column.List(down), Source: source, StaleSeconds: stale.Seconds(),
		})
		if err != nil {
			return err
		}
		for _, engine := range started {
			if err := q.InsertSystemEvent(ctx,
				db.InsertSystemEventParams{
					Type: "system_trouble", Alert: status.EngineDown + " " + engine,
					Message: status.EngineDownMessage(engine),
				}); err != nil {
				return err
			}
		}
		for _, engine := range ended {
			if err := q.InsertSystemEvent(ctx,
				db.InsertSystemEventParams{
					Type:  "system_recovered",
					Alert: status.EngineDown + " " + engine,
				}); err != nil {
				return err
			}
		}
		changed = len(started)+len(ended) > 0
		return nil
	})
	return changed, err
}
