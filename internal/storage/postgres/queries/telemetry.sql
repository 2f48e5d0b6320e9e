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
    (select count(*) from (select distinct post_id from post_targets where status in ('failed', 'uncertain') limit @most) k)::bigint as parked,
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

-- name: ReaderState :one
-- When no counts were brought yet, it is since there is a workspace.
select coalesce(extract(epoch from clock_timestamp() - coalesce((select max(applied_at) from view_batches), (select min(created_at) from workspaces))), 0)::float8 as since_flush,
    coalesce((select differing from view_checks order by id desc limit 1), 0)::bigint as differing;

-- name: CrawlState :one
-- The frontier is counted up to a bound. Seeds are
-- overdue from a quarter of an hour on: the plan is made every minute.
select s.active, s.paused, s.due, s.overdue, d.known, d.paused as domains_paused, d.waiting, d.due as domains_due,
    (select count(*) from (select 1 from urls limit @most) u)::bigint as urls
from (
    select count(*) filter (where status = 'active') as active, count(*) filter (where status = 'paused') as paused,
        count(*) filter (where status = 'active' and next_crawl <= clock_timestamp()) as due,
        count(*) filter (where status = 'active' and next_crawl < clock_timestamp() - interval '15 minutes') as overdue
    from seeds
) s, (
    select count(*) as known, count(*) filter (where paused_at is not null) as paused,
        count(*) filter (where paused_at is null and not_before > clock_timestamp()) as waiting,
        count(*) filter (where paused_at is null and next_due <= clock_timestamp() and (not_before is null or not_before <= clock_timestamp())) as due
    from crawl_domains
) d;

-- name: PagesToParse :one
select (select count(*) from (select 1 from crawled_pages limit @most) p)::bigint as pages,
    coalesce((select extract(epoch from clock_timestamp() - fetched_at) from crawled_pages order by id limit 1), 0)::float8 as oldest;

-- name: ChangesToIndex :one
select (select count(*) from (select 1 from article_changes limit @most) c)::bigint as changes,
    coalesce((select extract(epoch from clock_timestamp() - changed_at) from article_changes order by id limit 1), 0)::float8 as oldest;
