-- name: RecordWorkerHeartbeat :exec
-- Also reactivates a worker that was considered dead.
insert into workers (identity) values (@identity)
on conflict (identity) do update set seen_at = clock_timestamp(), leased_until = null;

-- name: LeaseDeadWorkers :many
-- Workers without a heartbeat for this long. While the database was down no worker
-- could send heartbeats, so it has to be up for as long, too.
update workers set leased_until = clock_timestamp() + make_interval(secs => @lease_seconds::float8)
where seen_at < clock_timestamp() - make_interval(secs => @dead_after_seconds::float8)
  and (leased_until is null or leased_until < clock_timestamp())
  and pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => @dead_after_seconds::float8)
returning identity;

-- name: RenewWorkerLease :execrows
-- Fails if the worker is back or another one has taken over.
update workers set leased_until = clock_timestamp() + make_interval(secs => @lease_seconds::float8)
where identity = @identity and leased_until > clock_timestamp();

-- name: DeleteDeadWorker :exec
delete from workers where identity = @identity and leased_until is not null;

-- name: DuePosts :many
-- Posts that activities may be processing now, in order of their time. A post that is
-- being published was changed at most as long ago as an activity may run.
select post_id, scheduled_time from (
    (select d.post_id, d.scheduled_time from scheduled_posts d
     where d.status = 'scheduled' and d.scheduled_time < @before
       and (d.scheduled_time, d.post_id) > (@after_time::timestamptz, @after_id::uuid)
     order by d.scheduled_time, d.post_id limit @most)
    union all
    (select o.post_id, o.scheduled_time from scheduled_posts o
     where o.status = 'publishing' and o.updated_at > clock_timestamp() - interval '1 hour'
       and (o.scheduled_time, o.post_id) > (@after_time::timestamptz, @after_id::uuid)
     order by o.scheduled_time, o.post_id limit @most)
) due order by scheduled_time, post_id limit @most;

-- name: OverduePosts :many
-- Overdue posts with a target that no attempt holds: one that was never claimed, or
-- whose claim has expired. The order is random, so that posts that have to wait do
-- not hide others for long.
select p.post_id from (
    select d.post_id from scheduled_posts d
    where d.status = 'scheduled' and d.scheduled_time < clock_timestamp() - make_interval(secs => @late_seconds::float8)
    union all
    select o.post_id from scheduled_posts o
    where o.status = 'publishing' and o.updated_at > clock_timestamp() - interval '1 hour'
      and o.scheduled_time < clock_timestamp() - make_interval(secs => @late_seconds::float8)
) p
where exists (select 1 from post_targets t where t.post_id = p.post_id
              and (t.status = 'scheduled'
                   or t.status = 'publishing' and coalesce(t.claimed_until < clock_timestamp(), true)
                      and coalesce(t.waits_until < clock_timestamp(), true)))
order by random() limit @most;

-- name: ChangedPosts :many
select p.post_id from scheduled_posts p
join (select unnest(@post_ids::uuid[]) as post_id, unnest(@revisions::bigint[]) as revision) known using (post_id)
where p.revision <> known.revision;
