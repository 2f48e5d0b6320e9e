package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/timetext"
)

// TimeHandler reads times and time zones.
type TimeHandler struct{ Zones ZoneStore }

// ParseTime reads a time in words.
func (s *TimeHandler) ParseTime(
	ctx context.Context, r spec.ParseTimeRequestObject,
) (spec.ParseTimeResponseObject, error) {
	w, err := s.Zones.Workspace(ctx, principal(ctx).WorkspaceID)
	if err != nil {
		return nil, err
	}
	zone, err := timezone.Load(cmp.Or(optional.Value(r.Params.TimeZone), w.TimeZone))
	if err != nil {
		return nil, apperr.InvalidFields(apperr.Field("time_zone", "unknown_time_zone", "{reason}.", err))
	}
	at, err := timetext.Parse(r.Params.Text, time.Now().In(zone))
	if errors.Is(err, timetext.ErrSkipped) {
		return nil, apperr.InvalidFields(apperr.Field("text", "skipped_time",
			"Clocks in {time_zone} skip that time on that day.", zone.String()))
	}
	if err != nil {
		return nil, apperr.InvalidFields(apperr.Field("text", "invalid_time", "{reason}.", err))
	}
	return spec.ParseTime200JSONResponse{Time: at, LocalTime: at.Format("2006-01-02T15:04"), TimeZone: zone.String()},
		nil
}

// firstZoneYear is before anything that the dashboard shows with a time of day, except
// some old articles.
const firstZoneYear = 2000

// ListTimeZones lists the zones with their offsets, for clients that show local times.
func (s *TimeHandler) ListTimeZones(
	_ context.Context, _ spec.ListTimeZonesRequestObject,
) (spec.ListTimeZonesResponseObject, error) {
	d := timezone.Current()
	from, to := time.Date(firstZoneYear, 1, 1, 0, 0, 0, 0, time.UTC), time.Now().Add(post.Horizon).AddDate(1, 0,
		0).UTC().Truncate(24*time.Hour)
	out := spec.ListTimeZones200JSONResponse{
		Database: spec.TimeZoneDatabase{Version: d.Version, Source: d.Source}, From: from, To: to,
	}
	places := map[string]int{}
	for _, name := range d.Names() {
		zone, err := d.Load(name)
		if err != nil {
			return nil, err
		}
		offset, changes := int(timezone.Offset(from.In(zone)).Seconds()), [][]int64{}
		for _, c := range timezone.Changes(zone, from, to) {
			changes = append(changes, []int64{c.At.Unix(), int64(c.After.Seconds())})
		}
		rules := fmt.Sprint(offset, changes)
		i, known := places[rules]
		if !known {
			i, places[rules] = len(out.Rules), len(out.Rules)
			out.Rules = append(out.Rules, spec.TimeZoneRules{Offset: offset, Changes: changes})
		}
		out.Rules[i].Zones = append(out.Rules[i].Zones, name)
	}
	return out, nil
}
