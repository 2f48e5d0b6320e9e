-- name: GetCrawlDomain :one
select * from crawl_domains where domain = @domain;

-- name: GetWorkspaceDomain :one
select d.* from crawl_domains d where d.domain = @domain and exists (select 1 from seeds s where s.domain_id = d.id
  and s.workspace_id = @workspace_id);

-- name: ListWorkspaceDomains :many
select d.* from crawl_domains d
where d.domain > @after and exists (select 1 from seeds s where s.domain_id = d.id and s.workspace_id = @workspace_id)
order by d.domain limit @page_size;

-- name: CountURLsByState :many
select state, count(*) as urls, count(*) filter (where due_at <= clock_timestamp()) as due,
  count(*) filter (where lease is not null) as leased
from urls where domain_id = @domain_id group by state order by state;

-- name: CountURLsByStatus :many
select last_status, count(*) as urls from urls where domain_id = @domain_id and last_status <> 0 group by last_status
  order by last_status;

-- name: GetWeeklyStats :one
-- Articles of the last week: duplicates, and how long it took to discover those
-- that were published after the domain was added.
select count(*) as articles, count(*) filter (where duplicate) as duplicates, count(*) filter (where measured)
  as measured,
    count(*) filter (where measured and delay > 1800) as late,
    coalesce(percentile_cont(0.5) within group (order by delay) filter (where measured), 0)::float8 as p50,
    coalesce(percentile_cont(0.95) within group (order by delay) filter (where measured), 0)::float8 as p95
from (select a.group_id <> a.id as duplicate, a.published_at is not null and not a.date_only
  and a.published_at >= d.created_at as measured,
        greatest(extract(epoch from a.first_seen_at - a.published_at), 0) as delay
    from articles a join crawl_domains d on d.id = a.domain_id
    where a.domain_id = @domain_id and a.dated_at > now() - interval '7 days') last_week;

-- name: PauseCrawl :execrows
update crawl_domains set paused_at = coalesce(paused_at, clock_timestamp()), pause_reason = @reason
  where domain = @domain;

-- name: ResumeCrawl :execrows
update crawl_domains set paused_at = null, pause_reason = '', next_due = clock_timestamp() where domain = @domain;

-- name: RunSeedsNow :execrows
update seeds set next_crawl = clock_timestamp() where domain_id = @domain_id and status = 'active';

-- name: EmptyFrontier :execrows
-- Deletes hubs and pages that were not stored. Stored pages stay known, so that
-- they do not count as new.
delete from urls where domain_id = @domain_id and (state <> 'stored' or kind <> 'article');

-- name: IncrementEpoch :exec
update crawl_domains set epoch = epoch + 1, next_due = clock_timestamp() where id = @id;

-- name: ListDueDomains :many
-- The domains to crawl next, when there are more than can be crawled at once:
-- longest overdue first. Sites with frequent news move up to ten minutes ahead,
-- slow ones up to a minute back.
select domain from crawl_domains
where paused_at is null and next_due <= statement_timestamp()
  and (not_before is null or not_before <= clock_timestamp())
    and (leased_until is null or leased_until <= clock_timestamp())
order by next_due - make_interval(secs => 600 * score - least(response_ms, 6000) / 100) limit @batch;

-- name: CountLeasedDomains :one
select count(*) from crawl_domains where leased_until > clock_timestamp();

-- name: LeaseDomain :one
update crawl_domains set leased_until = clock_timestamp() + make_interval(secs => @seconds::float8),
    budget_used = case when budget_day = current_date then budget_used else 0 end, budget_day = current_date
where domain = @domain and paused_at is null returning *;

-- name: LockDomain :one
select * from crawl_domains where id = @id for no key update;

-- name: LeaseRanks :many
-- Leases the due URLs of some ranks, lowest rank first, with one index probe per
-- rank. It compares with statement_timestamp(), because clock_timestamp() is
-- volatile and cannot be used in an index condition.
update urls u set lease = @lease::uuid, due_at = clock_timestamp() + make_interval(secs => @seconds::float8),
  last_crawl = clock_timestamp()
from (select p.id from generate_series(@from_rank::int, @to_rank::int) r,
        lateral (select q.id, q.rank, q.due_at from urls q where q.domain_id = @domain_id and q.rank = r::smallint
          and q.due_at <= statement_timestamp()
                 order by q.due_at limit @batch for update skip locked) p
      order by p.rank, p.due_at limit @batch) picked
where u.domain_id = @domain_id and u.id = picked.id
returning u.*;

-- name: RenewLeases :exec
update urls set due_at = clock_timestamp() + make_interval(secs => @seconds::float8)
where domain_id = @domain_id and id = any(@ids::uuid[]) and lease = @lease::uuid;

-- name: ReleaseLeases :exec
-- Releases URLs that were not fetched.
update urls set lease = null, due_at = clock_timestamp() + make_interval(secs => @seconds::float8)
where domain_id = @domain_id and id = any(@ids::uuid[]) and lease = @lease::uuid;

-- name: AddDomainBudgetUse :exec
update crawl_domains set budget_used = budget_used + @n where id = @id;

-- name: AddSeedBudgetUse :exec
update seeds s set budget_used = case when budget_day = current_date then budget_used else 0 end + spent.n,
  budget_day = current_date
from (select unnest(@numbers::int[]) as number, unnest(@counts::int[]) as n) spent
where s.number = spent.number;

-- name: ReleaseDomain :one
-- Sets next_due to the due time of the first URL.
update crawl_domains d set leased_until = null, next_due = (
    select min(first.due_at) from generate_series(0, 15) r,
      lateral (select q.due_at from urls q where q.domain_id = d.id and q.rank = r::smallint and q.due_at is not null
        order by q.due_at limit 1) first)
where d.id = @id returning d.next_due;

-- name: GetNextDueIn :one
-- Seconds until the domain's first URL is due; -1: never.
select coalesce(greatest(extract(epoch from min(first.due_at) - clock_timestamp()), 0), -1)::float8 as seconds
  from generate_series(0, 15) r,
    lateral (select q.due_at from urls q where q.domain_id = @domain_id and q.rank = r::smallint
      and q.due_at is not null order by q.due_at limit 1) first;

-- name: RenewDomainLease :one
update crawl_domains set leased_until = clock_timestamp() + make_interval(secs => @seconds::float8) where id = @id
returning paused_at, epoch;

-- name: AcquireSlot :one
-- No row: the slot is taken.
insert into crawl_slots (key, next_at, holder)
  values (@key, clock_timestamp() + make_interval(secs => @ttl_seconds::float8), @holder::uuid)
on conflict (key) do update set next_at = excluded.next_at, holder = excluded.holder
  where crawl_slots.next_at <= clock_timestamp()
returning key;

-- name: GetSlotWait :one
select greatest(extract(epoch from next_at - clock_timestamp()), 0)::float8 from crawl_slots where key = @key;

-- name: ReleaseSlot :exec
-- Does nothing if the slot expired and has another holder.
update crawl_slots set next_at = clock_timestamp() + make_interval(secs => @seconds::float8), holder = null
where key = @key and holder = @holder::uuid;

-- name: ReserveSlot :one
-- Reserves the next free time; no row: it is too far in the future.
insert into crawl_slots as s (key, next_at) values (@key, clock_timestamp() + make_interval(secs => @spacing::float8))
on conflict (key) do update set next_at = greatest(s.next_at,
  clock_timestamp()) + make_interval(secs => @spacing::float8)
    where s.next_at <= clock_timestamp() + make_interval(secs => @max_wait_seconds::float8)
returning greatest(extract(epoch from next_at - clock_timestamp()) - @spacing::float8, 0)::float8 as wait;

-- name: BlockDomain :exec
update crawl_domains set not_before = greatest(not_before, clock_timestamp() + make_interval(secs => @seconds::float8))
  where id = @id;

-- name: SetRendering :execrows
update crawl_domains set render = @render where domain = @domain;

-- name: UpdateURLRules :execrows
-- Does nothing if the rules changed since they were read.
update crawl_domains set rules = @rules where id = @id and rules = @old_rules;

-- name: ListParameterPages :many
-- The newest pages of a domain with URL parameters.
select url, canonical, content_hash from urls
where domain_id = @domain_id and kind = 'article' and state = 'stored' and position('?' in url) > 0
order by found_at desc limit @batch;

-- name: ListPageContents :many
select url, canonical, content_hash from urls where domain_id = @domain_id and id = any(@ids::uuid[])
  and kind = 'article' and state = 'stored';

-- name: ListFetchErrors :many
-- The last failed fetches.
select url, last_error, last_status, state, last_crawl from urls where domain_id = @domain_id and last_error <> ''
order by last_crawl desc limit @batch;

-- name: ListKnownURLs :many
select id from urls where domain_id = @domain_id and id = any(@ids::uuid[]);

-- name: ListSections :many
-- Uses the index urls_due, in which sections have a rank of their own.
select url from urls where domain_id = @domain_id and rank = @rank and due_at is not null and kind = 'section'
  limit @batch;

-- name: AddURLs :many
-- Returns the URLs that are new.
insert into urls (domain_id, id, url, kind, rank, depth, seed_number, interval_seconds, due_at)
select unnest(@domain_ids::int[]), unnest(@ids::uuid[]), unnest(@urls::text[]), unnest(@kinds::text[])::url_kind,
  unnest(@ranks::smallint[]),
    unnest(@depths::smallint[]), nullif(unnest(@seed_numbers::int[]), 0), unnest(@intervals::int[]), clock_timestamp()
on conflict (domain_id, id) do nothing
returning domain_id, id;

-- name: RefreshURLs :execrows
-- Makes stored articles due that were updated since they were last fetched.
update urls u set due_at = clock_timestamp()
from (select unnest(@ids::uuid[]) as id, unnest(@updated::timestamptz[]) as updated_at) m
where u.domain_id = @domain_id and u.id = m.id and u.lease is null and u.kind = 'article' and u.state = 'stored'
  and u.last_crawl < m.updated_at and u.due_at > clock_timestamp();

-- name: MakeURLDue :exec
update urls set due_at = clock_timestamp() where domain_id = @domain_id and id = @id and lease is null;

-- name: RecordURLs :many
-- Records fetches whose lease is still valid.
update urls u set lease = null, due_at = case when f.unscheduled then null
  else clock_timestamp() + make_interval(secs => f.due_in) end, state = f.state::url_state, attempts = f.attempts,
  last_status = f.last_status, rank = f.rank,
    interval_seconds = f.interval_seconds, etag = f.etag, last_modified = f.last_modified,
      content_hash = f.content_hash, simhash = f.simhash, raw_hash = f.raw_hash, canonical = f.canonical,
      last_error = f.last_error,
    changed_at = case when f.changed then clock_timestamp() else u.changed_at end
from (select unnest(@domain_ids::int[]) as domain_id, unnest(@ids::uuid[]) as id, unnest(@leases::uuid[]) as lease,
        unnest(@unscheduled::boolean[]) as unscheduled, unnest(@due_in::float8[]) as due_in,
        unnest(@states::text[]) as state, unnest(@attempts::smallint[]) as attempts, unnest(@statuses::smallint[])
          as last_status, unnest(@ranks::smallint[]) as rank,
        unnest(@intervals::int[]) as interval_seconds, unnest(@etags::text[]) as etag, unnest(@modified::text[])
          as last_modified,
        unnest(@content::text[]) as content_hash, unnest(@simhashes::bigint[]) as simhash, unnest(@raw::text[])
          as raw_hash, unnest(@canonicals::text[]) as canonical, unnest(@errors::text[]) as last_error,
          unnest(@changed::boolean[]) as changed) f
where u.domain_id = f.domain_id and u.id = f.id and u.lease = f.lease
returning u.domain_id, u.id, f.lease::uuid as lease, u.found_at;

-- name: AddVersions :exec
insert into page_versions (domain_id, url_id, fetched_at, status, bytes, stored_bytes, kind, raw_hash, final_url,
  header)
select unnest(@domain_ids::int[]), unnest(@url_ids::uuid[]), unnest(@fetched::timestamptz[]),
  unnest(@statuses::smallint[]), unnest(@bytes::int[]),
    unnest(@stored_bytes::int[]), unnest(@kinds::text[])::url_kind, unnest(@raw::text[]), unnest(@final_urls::text[]),
      unnest(@headers::text[])::jsonb;

-- name: AddCrawledPages :exec
insert into crawled_pages (domain_id, url_id, fetched_at, url, object_key, found_at, is_first_version, removed,
  moved_to)
select unnest(@domain_ids::int[]), unnest(@url_ids::uuid[]), unnest(@fetched::timestamptz[]), unnest(@urls::text[]),
  unnest(@keys::text[]),
    unnest(@found::timestamptz[]), unnest(@first::boolean[]), unnest(@removed::boolean[]),
      nullif(unnest(@moved_to::uuid[]), '00000000-0000-0000-0000-000000000000');

-- name: LockDomains :exec
-- Transactions that change seeds or URLs lock their domains first, in the order of
-- their names, which rules out deadlocks.
select id from crawl_domains where id = any(@ids::int[]) order by domain for no key update;

-- name: CountFetches :exec
update crawl_domains d set last_crawl = clock_timestamp(), fetched = d.fetched + c.fetched,
  stored = d.stored + c.stored, unchanged = d.unchanged + c.unchanged,
    failed = d.failed + c.failed, timeouts = d.timeouts + c.timeouts, excluded = d.excluded + c.excluded,
      bytes = d.bytes + c.bytes,
    response_ms = case when c.fetched = 0 then d.response_ms when d.response_ms = 0 then c.response_ms
      else 0.8 * d.response_ms + 0.2 * c.response_ms end,
    score = case when c.hubs = 0 then d.score else 0.8 * d.score + 0.2 * c.news end,
    next_due = least(d.next_due, clock_timestamp() + make_interval(secs => nullif(c.due_in, -1)))
from (select unnest(@ids::int[]) as id, unnest(@fetches::int[]) as fetched, unnest(@stores::int[]) as stored,
  unnest(@unchanges::int[]) as unchanged,
        unnest(@fails::int[]) as failed, unnest(@timeout_counts::int[]) as timeouts, unnest(@exclusions::int[])
          as excluded, unnest(@byte_counts::bigint[]) as bytes,
        unnest(@response::float8[]) as response_ms, unnest(@hubs::int[]) as hubs, unnest(@news::float8[]) as news,
          unnest(@due_in::float8[]) as due_in) c
where d.id = c.id;

-- name: SetCrawlDelay :exec
update crawl_domains set crawl_delay_ms = @crawl_delay_ms where id = @id and crawl_delay_ms <> @crawl_delay_ms;

-- name: LeaseCrawledPages :many
update crawled_pages c set leased_until = clock_timestamp() + make_interval(secs => @seconds::float8),
  attempts = attempts + 1
from (select id from crawled_pages where leased_until <= statement_timestamp() order by leased_until,
  id limit @batch for update skip locked) picked
where c.id = picked.id
returning c.*;

-- name: DeleteCrawledPages :exec
delete from crawled_pages where id = any(@ids::bigint[]);

-- name: ListURLKeys :many
-- All URLs, partition by partition, to rebuild the URL filter.
select domain_id, id from urls where (domain_id, id) > (@domain_id::int, @id::uuid) order by domain_id, id limit @batch;

-- name: ListOldVersions :many
-- Versions beyond the newest @max_versions of a URL, and versions that are too
-- old, except for the newest.
select v.domain_id, d.domain, v.url_id, v.fetched_at, v.raw_hash from (
    select *, row_number() over (partition by domain_id, url_id order by fetched_at desc) as n from page_versions
      where domain_id = @domain_id) v
join crawl_domains d on d.id = v.domain_id
where v.n > @max_versions::int
  or (v.n > 1 and v.fetched_at < clock_timestamp() - make_interval(secs => @seconds::float8))
limit @batch;

-- name: LockUnleasedURL :one
-- No row: the URL is leased, or was deleted from the frontier (see URLExists).
select id from urls where domain_id = @domain_id and id = @id and lease is null for update;

-- name: URLExists :one
select exists (select 1 from urls where domain_id = @domain_id and id = @id);

-- name: DeleteVersion :exec
delete from page_versions where domain_id = @domain_id and url_id = @url_id and fetched_at = @fetched_at;

-- name: VersionObjectInUse :one
select exists (select 1 from page_versions where domain_id = @domain_id and url_id = @url_id and raw_hash = @raw_hash);

-- name: ListVersions :many
-- The versions of a domain within a time range, in order.
select v.*, u.url from page_versions v left join urls u on u.domain_id = v.domain_id and u.id = v.url_id
where v.domain_id = @domain_id and v.fetched_at >= @from_time and v.fetched_at < @to_time
  and (v.fetched_at, v.url_id) > (@after_time, @after_id::uuid)
order by v.fetched_at, v.url_id limit @batch;

-- name: ListCrawlDomainIDs :many
select id from crawl_domains where id > @after order by id limit @batch;

-- name: GetURL :one
select * from urls where domain_id = @domain_id and id = @id;
