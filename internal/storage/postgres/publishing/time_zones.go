package publishing

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/zonechange"
	"dateline/internal/storage/postgres/publishing/db"
)

// ApplyTimeZones recalculates the instants of planned posts by the rules of a time zone
// database, from the local times by that which was applied before. It returns that one, and
// the posts that moved or would have. An older database than that changes nothing.
func (s *PostStore) ApplyTimeZones(ctx context.Context, zones *timezone.Database, now time.Time) (
	before *timezone.Database, moves []zonechange.Move, err error,
) {
	packed, err := zones.Pack()
	if err != nil {
		return nil, nil, err
	}
	own := base64.StdEncoding.EncodeToString(packed)
	err = s.inTx(ctx, func(q *queries) error {
		stored, err := q.LockTimeZones(ctx, own)
		if err != nil {
			return err
		}
		if before = zones; stored == own {
			return nil
		}
		raw, err := base64.StdEncoding.DecodeString(stored)
		if err != nil {
			return err
		}
		if before, err = timezone.Unpack(raw); err != nil {
			return fmt.Errorf("the applied time zone database: %w", err)
		}
		if !zones.NewerThan(before) {
			return nil
		}
		if moves, err = moveToZones(ctx, q, before, zones, now); err != nil {
			return err
		}
		return q.SetTimeZones(ctx, own)
	})
	return before, moves, err
}

func moveToZones(
	ctx context.Context, q *queries, before, zones *timezone.Database, now time.Time,
) ([]zonechange.Move, error) {
	used, err := q.PlannedTimeZones(ctx)
	if err != nil {
		return nil, err
	}
	changed := zones.ChangedSince(before, used, now, now.Add(post.Horizon))
	if len(changed) == 0 {
		return nil, nil
	}
	rows, err := q.LockPlannedPosts(ctx, changed)
	if err != nil {
		return nil, err
	}
	planned := make([]zonechange.Planned, len(rows))
	for i, r := range rows {
		planned[i] = zonechange.Planned{
			PostID: r.PostID, WorkspaceID: r.WorkspaceID, GroupID: r.QueueGroupID,
			At: r.ScheduledTime, TimeZone: r.TimeZone,
		}
	}
	moves := zonechange.Find(before, zones, planned, now)
	if err := q.RecheckSeries(ctx, changed); err != nil {
		return nil, err
	}
	if err := movePosts(ctx, q, moves); err != nil {
		return nil, err
	}
	return moves, noteMoves(ctx, q, moves, zones.Version)
}

func movePosts(ctx context.Context, q *queries, moves []zonechange.Move) error {
	var p db.MovePlannedPostsParams
	slots := map[string]bool{}
	for _, m := range moves {
		if m.Held {
			continue
		}
		group := ""
		if m.GroupID != nil {
			// Posts of several time zones can meet in one slot, which takes one.
			if slot := m.GroupID.String() + m.To.String(); !slots[slot] {
				slots[slot], group = true, m.GroupID.String()
			}
		}
		p.PostIds, p.Ats, p.GroupIds = append(p.PostIds, m.PostID), append(p.Ats, m.To), append(p.GroupIds, group)
	}
	if len(p.PostIds) == 0 {
		return nil
	}
	if err := q.LeaveSlots(ctx, p.PostIds); err != nil {
		return err
	}
	return q.MovePlannedPosts(ctx, p)
}

// noteMoves adds the moves to the timelines of the posts, and tells the members of the
// workspaces.
func noteMoves(ctx context.Context, q *queries, moves []zonechange.Move, version string) error {
	events := db.InsertZoneEventsParams{Type: post.EventRezoned}
	type count struct{ moved, held int }
	counts := map[uuid.UUID]count{}
	for _, m := range moves {
		data, err := json.Marshal(map[string]any{
			"before": m.At.UTC(), "after": m.To, "time_zone": m.TimeZone,
			"database": version, "held": m.Held,
		})
		if err != nil {
			return err
		}
		events.PostIds = append(events.PostIds, m.PostID)
		events.WorkspaceIds = append(events.WorkspaceIds, m.WorkspaceID)
		events.Data = append(events.Data, string(data))
		n := counts[m.WorkspaceID]
		if m.Held {
			n.held++
		} else {
			n.moved++
		}
		counts[m.WorkspaceID] = n
	}
	if len(moves) == 0 {
		return nil
	}
	if err := q.InsertZoneEvents(ctx, events); err != nil {
		return err
	}
	for workspace, n := range counts {
		text := fmt.Sprintf("Version %s of the time zone database changed rules. Posts that moved to keep their "+
			"local time: %d. "+
			"Posts due within the hour, which were not moved: %d. Check the latter; the timelines have both times.",
			version, n.moved, n.held)
		event := db.InsertWorkspaceTroubleParams{
			WorkspaceID: workspace, Alert: "TimeZonesChanged " + version, Message: text,
		}
		if err := q.InsertWorkspaceTrouble(ctx, event); err != nil {
			return err
		}
	}
	return nil
}
