-- name: QueueSizes :one
-- What waits. The scheduled ones are counted up to a bound: beyond it the number
-- says no more than that there are many.
select
    (select count(*) from (select 1 from scheduled_posts where status = 'scheduled' limit @most) s)::bigint as scheduled,
    (select count(*) from (select 1 from scheduled_posts where status = 'scheduled'
        and scheduled_time between clock_timestamp() and clock_timestamp() + interval '1 minute' limit @most) d)::bigint as due,
    (select count(*) from (select 1 from scheduled_posts where status = 'scheduled'
        and scheduled_time < clock_timestamp() - interval '30 seconds' limit @most) o)::bigint as overdue,
    (select count(*) from (select 1 from scheduled_posts where status = 'publishing'
        and updated_at > clock_timestamp() - interval '1 day' limit @most) p)::bigint as publishing,
    (select count(*) from (select 1 from webhook_deliveries where status = 'pending' limit @most) w)::bigint as deliveries;

-- name: DeadLetterReasons :many
select t.status::text as status, coalesce(t.error_class, '')::text as reason, count(*) as letters
from post_targets t where t.status in ('failed', 'uncertain')
group by 1, 2 order by 1, 2;

-- name: AccountStates :many
select network, status::text as status, count(*) as accounts,
    count(*) filter (where ends_at is not null)::bigint as ending,
    coalesce(min(extract(epoch from ends_at - clock_timestamp())), 0)::float8 as first_end_seconds
from (
    -- Without a renewal, access ends with the token; with one, when renewing does.
    select network, status, case when status <> 'connected' then null when renewable and refresh_rolls then null when renewable then refresh_expires_at else expires_at end as ends_at
    from accounts
) a group by 1, 2 order by 1, 2;
