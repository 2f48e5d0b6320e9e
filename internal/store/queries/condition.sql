-- name: WorkspaceQueues :one
-- What waits of a workspace, each counted up to a bound: beyond it the number says
-- no more than that there are many.
select
    (select count(*) from (select 1 from scheduled_posts where workspace_id = @workspace_id and listed_at > clock_timestamp()
        and status = 'scheduled' limit @most) s)::bigint as scheduled,
    (select count(*) from (select 1 from scheduled_posts where workspace_id = @workspace_id
        and listed_at between clock_timestamp() and clock_timestamp() + interval '1 minute' and status = 'scheduled' limit @most) d)::bigint as due,
    (select count(*) from (select 1 from scheduled_posts where workspace_id = @workspace_id and status = 'scheduled'
        and scheduled_time < clock_timestamp() - interval '30 seconds' limit @most) o)::bigint as overdue,
    (select count(*) from (select 1 from scheduled_posts where workspace_id = @workspace_id and status = 'publishing'
        and updated_at > clock_timestamp() - interval '1 day' limit @most) p)::bigint as publishing,
    (select count(distinct t.post_id) from post_targets t join scheduled_posts p using (post_id)
        where t.status in ('failed', 'uncertain') and p.workspace_id = @workspace_id)::bigint as parked,
    (select count(*) from post_targets t join scheduled_posts p using (post_id)
        where t.status in ('failed', 'uncertain') and t.updated_at > clock_timestamp() - interval '15 minutes' and p.workspace_id = @workspace_id)::bigint as freshly_dead,
    (select count(*) from (select 1 from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
        where d.status = 'pending' and e.workspace_id = @workspace_id limit @most) w)::bigint as deliveries,
    (select count(*) from (select 1 from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
        where d.status = 'dead' and e.workspace_id = @workspace_id limit @most) g)::bigint as dead_deliveries;

-- name: WorkspaceLateness :many
-- How late the newest posts of a workspace were sent, by network, and of all
-- together where the network is empty. Where a person had one sent again, it
-- counts from there.
select coalesce(l.network, '')::text as network, count(*)::bigint as sent,
    coalesce(percentile_cont(0.5) within group (order by l.late), 0)::float8 as median,
    coalesce(percentile_cont(0.99) within group (order by l.late), 0)::float8 as p99,
    coalesce(max(l.late), 0)::float8 as latest
from (
    select a.network, extract(epoch from t.sent_at -
        case when p.redriven_at between p.scheduled_time and t.sent_at then p.redriven_at else p.scheduled_time end)::float8 as late
    from scheduled_posts p join post_targets t using (post_id) join accounts a on a.id = t.account_id
    where p.workspace_id = @workspace_id and t.sent_at is not null
      and p.listed_at between clock_timestamp() - make_interval(secs => @back_seconds::float8) and clock_timestamp()
    order by p.listed_at desc limit @most
) l
group by grouping sets ((l.network), ())
order by 1;
