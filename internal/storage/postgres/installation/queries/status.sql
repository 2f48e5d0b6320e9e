-- name: WorkspaceBacklog :one
-- The posts and deliveries of a workspace by state, each counted up to @max_count.
select
    (select count(*) from (select 1 from scheduled_posts p1 where p1.workspace_id = @workspace_id
      and p1.listed_at > clock_timestamp()
        and p1.status = 'scheduled' limit @max_count) s)::bigint as scheduled,
    (select count(*) from (select 1 from scheduled_posts p2 where p2.workspace_id = @workspace_id
        and p2.listed_at between clock_timestamp() and clock_timestamp() + interval '1 minute'
          and p2.status = 'scheduled' limit @max_count) d)::bigint as due,
    (select count(*) from (select 1 from scheduled_posts p3 where p3.workspace_id = @workspace_id
      and p3.status = 'scheduled'
        and p3.scheduled_time < clock_timestamp() - interval '30 seconds' limit @max_count) o)::bigint as overdue,
    (select count(*) from (select 1 from scheduled_posts p4 where p4.workspace_id = @workspace_id
      and p4.status = 'publishing'
        and p4.updated_at > clock_timestamp() - interval '1 day' limit @max_count) p)::bigint as publishing,
    (select count(distinct t5.post_id) from post_targets t5 join scheduled_posts p5 on p5.post_id = t5.post_id
        where t5.status in ('failed', 'uncertain') and p5.workspace_id = @workspace_id)::bigint as parked,
    (select count(*) from post_targets t6 join scheduled_posts p6 on p6.post_id = t6.post_id
        where t6.status in ('failed', 'uncertain') and t6.updated_at > clock_timestamp() - interval '15 minutes'
          and p6.workspace_id = @workspace_id)::bigint as new_dead_letters,
    (select count(*) from (select 1 from webhook_deliveries d7 join webhook_endpoints e7 on e7.id = d7.endpoint_id
        where d7.status = 'pending' and e7.workspace_id = @workspace_id limit @max_count) w)::bigint as deliveries,
    (select count(*) from (select 1 from webhook_deliveries d8 join webhook_endpoints e8 on e8.id = d8.endpoint_id
        where d8.status = 'dead' and e8.workspace_id = @workspace_id limit @max_count) g)::bigint as failed_deliveries;

-- name: WorkspaceLateness :many
-- The lateness of the newest posts of a workspace, by network, and of all networks
-- together where the network is empty. The lateness of a manually retried post is
-- measured from the retry.
select coalesce(l.network, '')::text as network, count(*)::bigint as sent,
    coalesce(percentile_cont(0.5) within group (order by l.late), 0)::float8 as median,
    coalesce(percentile_cont(0.99) within group (order by l.late), 0)::float8 as p99,
    coalesce(max(l.late), 0)::float8 as max
from (
    select a.network, extract(epoch from t.sent_at -
        case when p.redriven_at between p.scheduled_time and t.sent_at then p.redriven_at
          else p.scheduled_time end)::float8 as late
    from scheduled_posts p join post_targets t on t.post_id = p.post_id join accounts a on a.id = t.account_id
    where p.workspace_id = @workspace_id and t.sent_at is not null
      and p.listed_at between clock_timestamp() - make_interval(secs => @window_seconds::float8) and clock_timestamp()
    order by p.listed_at desc limit @max_count
) l
group by grouping sets ((l.network), ())
order by 1;
