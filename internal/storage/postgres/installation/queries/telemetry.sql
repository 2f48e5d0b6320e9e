-- name: Backlog :one
-- Posts by state and pending deliveries, each counted up to @max_count.
select
    (select count(*) from (select 1 from scheduled_posts where status = 'scheduled' limit @max_count) s)::bigint
      as scheduled,
    (select count(*) from (select 1 from scheduled_posts where status = 'scheduled'
        and scheduled_time between clock_timestamp() and clock_timestamp() + interval '1 minute'
          limit @max_count) d)::bigint as due,
    (select count(*) from (select 1 from scheduled_posts where status = 'scheduled'
        and scheduled_time < clock_timestamp() - interval '30 seconds' limit @max_count) o)::bigint as overdue,
    (select count(*) from (select 1 from scheduled_posts where status = 'publishing'
        and updated_at > clock_timestamp() - interval '1 day' limit @max_count) p)::bigint as publishing,
    (select count(*) from (select distinct post_id from post_targets where status in ('failed', 'uncertain')
      limit @max_count) k)::bigint as parked,
    (select count(*) from (select 1 from webhook_deliveries where status = 'pending' and body <> ''
      limit @max_count) w)::bigint as deliveries;

-- name: DeadLetterReasons :many
select t.status::text as status, coalesce(t.error_class, '')::text as reason, count(*) as letters
from post_targets t where t.status in ('failed', 'uncertain')
group by 1, 2 order by 1, 2;

-- name: AccountStates :many
select network, status::text as status, count(*) as accounts,
    count(*) filter (where ends_at is not null)::bigint as expiring,
    coalesce(min(extract(epoch from ends_at - clock_timestamp())), 0)::float8 as first_expiry_seconds
from (
    -- Access expires with the token, or with its renewability if it is renewable.
    select network, status, case when status <> 'connected' then null when renewable and refresh_rolls then null
      when renewable then refresh_expires_at else expires_at end as ends_at
    from accounts
) a group by 1, 2 order by 1, 2;

-- name: ReaderState :one
-- Before the first flush, since_flush is measured from the creation of the first workspace.
select coalesce(extract(epoch from clock_timestamp() - coalesce((select max(applied_at) from view_batches),
  (select min(created_at) from workspaces))), 0)::float8 as since_flush,
    coalesce((select differing from view_checks order by id desc limit 1), 0)::bigint as mismatches;

-- name: CrawlState :one
-- URLs are counted up to @max_count. Seeds are overdue after 15 minutes: crawls are
-- planned every minute.
select s.active, s.paused, s.due, s.overdue, d.known, d.paused as domains_paused, d.backing_off, d.due as domains_due,
    (select count(*) from (select 1 from urls limit @max_count) u)::bigint as urls
from (
    select count(*) filter (where status = 'active') as active, count(*) filter (where status = 'paused') as paused,
        count(*) filter (where status = 'active' and next_crawl <= clock_timestamp()) as due,
        count(*) filter (where status = 'active' and next_crawl < clock_timestamp() - interval '15 minutes') as overdue
    from seeds
) s, (
    select count(*) as known, count(*) filter (where paused_at is not null) as paused,
        count(*) filter (where paused_at is null and not_before > clock_timestamp()) as backing_off,
        count(*) filter (where paused_at is null and next_due <= clock_timestamp()
          and (not_before is null or not_before <= clock_timestamp())) as due
    from crawl_domains
) d;

-- name: PagesToParse :one
select (select count(*) from (select 1 from crawled_pages limit @max_count) p)::bigint as pages,
    coalesce((select extract(epoch from clock_timestamp() - fetched_at) from crawled_pages order by id limit 1),
      0)::float8 as oldest;

-- name: ChangesToIndex :one
select (select count(*) from (select 1 from article_changes limit @max_count) c)::bigint as changes,
    coalesce((select extract(epoch from clock_timestamp() - changed_at) from article_changes order by id limit 1),
      0)::float8 as oldest;
