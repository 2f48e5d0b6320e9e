-- name: LockTimeZones :one
-- The database by which the times of posts were computed. The first process stores its own.
insert into settings (key, value) values ('time_zones', @value)
on conflict (key) do update set key = excluded.key
returning value;

-- name: SetTimeZones :exec
update settings set value = @value, updated_at = now() where key = 'time_zones';

-- name: PlannedTimeZones :many
select distinct time_zone from scheduled_posts
where status in ('draft', 'scheduled') and scheduled_time > clock_timestamp()
union select distinct time_zone from series where status <> 'ended';

-- name: LockPlannedPosts :many
select post_id, workspace_id, scheduled_time::timestamptz as scheduled_time, time_zone, queue_group_id
  from scheduled_posts
where status in ('draft', 'scheduled') and scheduled_time > clock_timestamp() and time_zone = any(@time_zones::text[])
order by post_id
for no key update;

-- name: MovePlannedPosts :exec
-- Their slots are free: see LeaveSlots. A post whose slot another post has by now leaves
-- the queue. For a series, its posts stay unmodified.
update scheduled_posts p set scheduled_time = w.at, late_noted_at = null,
    queue_group_id = case when w.group_id <> '' and not exists (
        select 1 from scheduled_posts o where o.queue_group_id = w.group_id::uuid and o.queue_slot = w.at
          and o.post_id <> p.post_id) then w.group_id::uuid end,
    series_revision = case when p.series_revision = p.revision then p.revision + 1 else p.series_revision end,
    version = p.version + 1, revision = p.revision + 1, updated_at = clock_timestamp()
from (select unnest(@post_ids::uuid[]) as post_id, unnest(@ats::timestamptz[]) as at, unnest(@group_ids::text[])
  as group_id) w
where p.post_id = w.post_id;

-- name: RecheckSeries :exec
-- Occurrences near the end of what was checked may be after it now, or before.
update series set checked_until = greatest(least(checked_until, clock_timestamp()), checked_until - interval '1 day')
where status <> 'ended' and time_zone = any(@time_zones::text[]);

-- name: InsertZoneEvents :exec
insert into post_events (post_id, workspace_id, type, actor, data)
select unnest(@post_ids::uuid[]), unnest(@workspace_ids::uuid[]), @type, 'dateline', unnest(@data::text[])::jsonb;

-- name: InsertWorkspaceTrouble :exec
insert into post_events (workspace_id, type, actor, data)
values (@workspace_id, 'system_trouble', 'dateline', jsonb_build_object('alert', @alert::text, 'message',
  @message::text));
