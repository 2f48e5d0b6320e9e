-- name: GetCrawlDomain :one
select * from crawl_domains where domain = @domain;

-- name: DomainOfWorkspace :one
select d.* from crawl_domains d where d.domain = @domain and exists (select 1 from seeds s where s.domain_id = d.id and s.workspace_id = @workspace_id);

-- name: DomainsOfWorkspace :many
select d.* from crawl_domains d
where d.domain > @after and exists (select 1 from seeds s where s.domain_id = d.id and s.workspace_id = @workspace_id)
order by d.domain limit @page_size;

-- name: FrontierCounts :many
select state, count(*) as urls, count(*) filter (where due_at <= clock_timestamp()) as due, count(*) filter (where lease is not null) as leased
from urls where domain_id = @domain_id group by state order by state;

-- name: AnswersOfDomain :many
-- How the last request for each URL was answered.
select last_status, count(*) as urls from urls where domain_id = @domain_id and last_status <> 0 group by last_status order by last_status;

-- name: NewsOfDomain :one
-- Of the last week: what was read, what says the same as another article, and how
-- long after its publication was found what came out while the site was watched.
select count(*) as articles, count(*) filter (where duplicate) as duplicates, count(*) filter (where timed) as timed,
    count(*) filter (where timed and waited > 1800) as late,
    coalesce(percentile_cont(0.5) within group (order by waited) filter (where timed), 0)::float8 as p50,
    coalesce(percentile_cont(0.95) within group (order by waited) filter (where timed), 0)::float8 as p95
from (select a.group_id <> a.id as duplicate, a.published_at is not null and not a.date_only and a.published_at >= d.created_at as timed,
        greatest(extract(epoch from a.first_seen_at - a.published_at), 0) as waited
    from articles a join crawl_domains d on d.id = a.domain_id
    where a.domain_id = @domain_id and a.dated_at > now() - interval '7 days') of_week;

-- name: PauseCrawl :execrows
update crawl_domains set paused_at = coalesce(paused_at, clock_timestamp()), paused_why = @why where domain = @domain;

-- name: ResumeCrawl :execrows
update crawl_domains set paused_at = null, paused_why = '', next_due = clock_timestamp() where domain = @domain;

-- name: RunSeedsNow :execrows
update seeds set next_crawl = clock_timestamp() where domain_id = @domain_id and status = 'active';

-- name: EmptyFrontier :execrows
-- Forgets hubs, and pages that were not stored. What was stored stays known, so
-- that it is not taken for new.
delete from urls where domain_id = @domain_id and (state <> 'kept' or kind <> 'article');

-- name: NewEpoch :exec
update crawl_domains set epoch = epoch + 1, next_due = clock_timestamp() where id = @id;

-- name: DueDomains :many
-- Whom to drain next, where not all can be: who has waited longest, sites that
-- bring news up to ten minutes ahead, slow ones up to a minute behind. A domain
-- whose drain has died is due again when its time is over.
select domain from crawl_domains
where paused_at is null and next_due <= statement_timestamp()
  and (not_before is null or not_before <= clock_timestamp()) and (draining_until is null or draining_until <= clock_timestamp())
order by next_due - make_interval(secs => 600 * score - least(response_ms, 6000) / 100) limit @batch;

-- name: Draining :one
select count(*) from crawl_domains where draining_until > clock_timestamp();

-- name: BeginDrain :one
update crawl_domains set draining_until = clock_timestamp() + make_interval(secs => @seconds::float8),
    budget_used = case when budget_day = current_date then budget_used else 0 end, budget_day = current_date
where domain = @domain and paused_at is null returning *;

-- name: LockDomain :one
select * from crawl_domains where id = @id for no key update;

-- name: LeaseRanks :many
-- What is due of some ranks, the lowest first: a probe of the index per rank,
-- however long the queues are. The time is the statement's: by one that goes on
-- while it runs no index can be asked, and all that is not due would be read.
update urls u set lease = @lease::uuid, due_at = clock_timestamp() + make_interval(secs => @seconds::float8), last_crawl = clock_timestamp()
from (select p.id from generate_series(@from_rank::int, @to_rank::int) r,
        lateral (select q.id, q.rank, q.due_at from urls q where q.domain_id = @domain_id and q.rank = r::smallint and q.due_at <= statement_timestamp()
                 order by q.due_at limit @batch for update skip locked) p
      order by p.rank, p.due_at limit @batch) picked
where u.domain_id = @domain_id and u.id = picked.id
returning u.*;

-- name: RenewLeases :exec
update urls set due_at = clock_timestamp() + make_interval(secs => @seconds::float8)
where domain_id = @domain_id and id = any(@ids::uuid[]) and lease = @lease::uuid;

-- name: ReleaseLeases :exec
-- Gives back what was not fetched.
update urls set lease = null, due_at = clock_timestamp() + make_interval(secs => @seconds::float8)
where domain_id = @domain_id and id = any(@ids::uuid[]) and lease = @lease::uuid;

-- name: SpendDomain :exec
update crawl_domains set budget_used = budget_used + @n where id = @id;

-- name: SpendSeeds :exec
update seeds s set budget_used = case when budget_day = current_date then budget_used else 0 end + spent.n, budget_day = current_date
from (select unnest(@nos::int[]) as no, unnest(@counts::int[]) as n) spent
where s.no = spent.no;

-- name: EndDrain :one
-- next_due is what the frontier says when nobody fetches from it any more.
update crawl_domains d set draining_until = null, next_due = (
    select min(first.due_at) from generate_series(0, 15) r,
      lateral (select q.due_at from urls q where q.domain_id = d.id and q.rank = r::smallint and q.due_at is not null order by q.due_at limit 1) first)
where d.id = @id returning d.next_due;

-- name: DueIn :one
-- Seconds until the first of a domain's URLs is due; -1: none ever is.
select coalesce(greatest(extract(epoch from min(first.due_at) - clock_timestamp()), 0), -1)::float8 as seconds from generate_series(0, 15) r,
    lateral (select q.due_at from urls q where q.domain_id = @domain_id and q.rank = r::smallint and q.due_at is not null order by q.due_at limit 1) first;

-- name: RenewDrain :one
update crawl_domains set draining_until = clock_timestamp() + make_interval(secs => @seconds::float8) where id = @id
returning paused_at, epoch;

-- name: TakeGate :one
-- No row: the gate is closed.
insert into crawl_gates (key, next_at, holder) values (@key, clock_timestamp() + make_interval(secs => @hold::float8), @holder::uuid)
on conflict (key) do update set next_at = excluded.next_at, holder = excluded.holder where crawl_gates.next_at <= clock_timestamp()
returning key;

-- name: WaitOfGate :one
select greatest(extract(epoch from next_at - clock_timestamp()), 0)::float8 from crawl_gates where key = @key;

-- name: ReleaseGate :exec
-- A holder whose time ran out does not shorten another's.
update crawl_gates set next_at = clock_timestamp() + make_interval(secs => @seconds::float8), holder = null
where key = @key and holder = @holder::uuid;

-- name: ReserveGate :one
-- Gives the next free moment; no row: it is too far away.
insert into crawl_gates as g (key, next_at) values (@key, clock_timestamp() + make_interval(secs => @spacing::float8))
on conflict (key) do update set next_at = greatest(g.next_at, clock_timestamp()) + make_interval(secs => @spacing::float8)
    where g.next_at <= clock_timestamp() + make_interval(secs => @most::float8)
returning greatest(extract(epoch from next_at - clock_timestamp()) - @spacing::float8, 0)::float8 as wait;

-- name: BlockDomain :exec
update crawl_domains set not_before = greatest(not_before, clock_timestamp() + make_interval(secs => @seconds::float8)) where id = @id;

-- name: SetRendering :execrows
update crawl_domains set render = @render where domain = @domain;

-- name: SetRules :execrows
-- Only over the rules that were read: an operator may have changed them.
update crawl_domains set rules = @rules where id = @id and rules = @was;

-- name: ParameterPages :many
-- The newest pages of a domain with parameters in their URLs.
select url, canonical, content_hash from urls
where domain_id = @domain_id and kind = 'article' and state = 'kept' and position('?' in url) > 0
order by found_at desc limit @batch;

-- name: ContentOf :many
select url, canonical, content_hash from urls where domain_id = @domain_id and id = any(@ids::uuid[]) and kind = 'article' and state = 'kept';

-- name: ProblemsOfDomain :many
-- The last fetches that came to nothing.
select url, problem, last_status, state, last_crawl from urls where domain_id = @domain_id and problem <> ''
order by last_crawl desc limit @batch;

-- name: KnownURLs :many
select id from urls where domain_id = @domain_id and id = any(@ids::uuid[]);

-- name: SectionsOfDomain :many
-- By the index of what is due, in which sections have a rank of their own.
select url from urls where domain_id = @domain_id and rank = @rank and due_at is not null and kind = 'section' limit @batch;

-- name: AddURLs :many
-- What is new among the URLs that a page names.
insert into urls (domain_id, id, url, kind, rank, depth, seed_no, every_seconds, due_at)
select unnest(@domain_ids::int[]), unnest(@ids::uuid[]), unnest(@urls::text[]), unnest(@kinds::text[])::url_kind, unnest(@ranks::smallint[]),
    unnest(@depths::smallint[]), nullif(unnest(@seed_nos::int[]), 0), unnest(@every::int[]), clock_timestamp()
on conflict (domain_id, id) do nothing
returning domain_id, id;

-- name: FinishURLs :many
-- Records fetches of those who still hold the lease.
update urls u set lease = null, due_at = case when f.never then null else clock_timestamp() + make_interval(secs => f.due_in) end, state = f.state::url_state, tries = f.tries, last_status = f.last_status, rank = f.rank,
    every_seconds = f.every_seconds, etag = f.etag, last_modified = f.last_modified, content_hash = f.content_hash, simhash = f.simhash, raw_hash = f.raw_hash, canonical = f.canonical, problem = f.problem,
    changed_at = case when f.changed then clock_timestamp() else u.changed_at end
from (select unnest(@domain_ids::int[]) as domain_id, unnest(@ids::uuid[]) as id, unnest(@leases::uuid[]) as lease,
        unnest(@never::boolean[]) as never, unnest(@due_in::float8[]) as due_in,
        unnest(@states::text[]) as state, unnest(@tries::smallint[]) as tries, unnest(@statuses::smallint[]) as last_status, unnest(@ranks::smallint[]) as rank,
        unnest(@every::int[]) as every_seconds, unnest(@etags::text[]) as etag, unnest(@modified::text[]) as last_modified,
        unnest(@content::text[]) as content_hash, unnest(@simhashes::bigint[]) as simhash, unnest(@raw::text[]) as raw_hash, unnest(@canonicals::text[]) as canonical, unnest(@problems::text[]) as problem, unnest(@changed::boolean[]) as changed) f
where u.domain_id = f.domain_id and u.id = f.id and u.lease = f.lease
returning u.domain_id, u.id, f.lease::uuid as lease, u.found_at;

-- name: AddVersions :exec
insert into page_versions (domain_id, url_id, fetched_at, status, bytes, stored_bytes, kind, raw_hash, final_url, header)
select unnest(@domain_ids::int[]), unnest(@url_ids::uuid[]), unnest(@fetched::timestamptz[]), unnest(@statuses::smallint[]), unnest(@bytes::int[]),
    unnest(@stored_bytes::int[]), unnest(@kinds::text[])::url_kind, unnest(@raw::text[]), unnest(@final_urls::text[]), unnest(@headers::text[])::jsonb;

-- name: HandOn :exec
insert into crawled_pages (domain_id, url_id, fetched_at, url, object_key, found_at, first, gone, moved_to)
select unnest(@domain_ids::int[]), unnest(@url_ids::uuid[]), unnest(@fetched::timestamptz[]), unnest(@urls::text[]), unnest(@keys::text[]),
    unnest(@found::timestamptz[]), unnest(@first::boolean[]), unnest(@gone::boolean[]), nullif(unnest(@moved_to::uuid[]), '00000000-0000-0000-0000-000000000000');

-- name: LockDomains :exec
-- Whoever changes a domain's seeds or URLs holds its row first, and of several
-- domains in the order of their names: so nobody waits for who waits for him.
select id from crawl_domains where id = any(@ids::int[]) order by domain for no key update;

-- name: CountFetches :exec
update crawl_domains d set last_crawl = clock_timestamp(), fetched = d.fetched + c.fetched, stored = d.stored + c.stored, unchanged = d.unchanged + c.unchanged,
    failed = d.failed + c.failed, timeouts = d.timeouts + c.timeouts, refused = d.refused + c.refused, bytes = d.bytes + c.bytes,
    response_ms = case when c.fetched = 0 then d.response_ms when d.response_ms = 0 then c.response_ms else 0.8 * d.response_ms + 0.2 * c.response_ms end,
    score = case when c.hubs = 0 then d.score else 0.8 * d.score + 0.2 * c.news end,
    next_due = least(d.next_due, clock_timestamp() + make_interval(secs => nullif(c.due_in, -1)))
from (select unnest(@ids::int[]) as id, unnest(@fetches::int[]) as fetched, unnest(@stores::int[]) as stored, unnest(@unchanges::int[]) as unchanged,
        unnest(@fails::int[]) as failed, unnest(@timeout_counts::int[]) as timeouts, unnest(@refusals::int[]) as refused, unnest(@byte_counts::bigint[]) as bytes,
        unnest(@response::float8[]) as response_ms, unnest(@hubs::int[]) as hubs, unnest(@news::float8[]) as news, unnest(@due_in::float8[]) as due_in) c
where d.id = c.id;

-- name: SetDelay :exec
update crawl_domains set delay_ms = @delay_ms where id = @id and delay_ms <> @delay_ms;

-- name: TakeCrawled :many
update crawled_pages c set taken_until = clock_timestamp() + make_interval(secs => @seconds::float8), tries = tries + 1
from (select id from crawled_pages where taken_until <= statement_timestamp() order by taken_until, id limit @batch for update skip locked) picked
where c.id = picked.id
returning c.*;

-- name: CrawledDone :exec
delete from crawled_pages where id = any(@ids::bigint[]);

-- name: URLsAfter :many
-- All that is known, partition by partition, for the filter.
select domain_id, id from urls where (domain_id, id) > (@domain_id::int, @id::uuid) order by domain_id, id limit @batch;

-- name: SurplusVersions :many
-- Versions beyond the newest few of a URL, and those too old but the newest.
select v.domain_id, d.domain, v.url_id, v.fetched_at, v.raw_hash from (
    select *, row_number() over (partition by domain_id, url_id order by fetched_at desc) as n from page_versions where domain_id = @domain_id) v
join crawl_domains d on d.id = v.domain_id
where v.n > @keep::int or (v.n > 1 and v.fetched_at < clock_timestamp() - make_interval(secs => @seconds::float8))
limit @batch;

-- name: LockIdleURL :one
-- No row: somebody fetches it, or it was emptied; see FrontierHas.
select id from urls where domain_id = @domain_id and id = @id and lease is null for update;

-- name: FrontierHas :one
select exists (select 1 from urls where domain_id = @domain_id and id = @id);

-- name: DropVersion :exec
delete from page_versions where domain_id = @domain_id and url_id = @url_id and fetched_at = @fetched_at;

-- name: VersionNeeded :one
select exists (select 1 from page_versions where domain_id = @domain_id and url_id = @url_id and raw_hash = @raw_hash);

-- name: VersionsBetween :many
-- A range of a domain in the order of time, page by page.
select v.*, u.url from page_versions v left join urls u on u.domain_id = v.domain_id and u.id = v.url_id
where v.domain_id = @domain_id and v.fetched_at >= @from_time and v.fetched_at < @to_time and (v.fetched_at, v.url_id) > (@after_time, @after_id::uuid)
order by v.fetched_at, v.url_id limit @batch;

-- name: CrawlDomainIDs :many
select id from crawl_domains where id > @after order by id limit @batch;

-- name: GetURL :one
select * from urls where domain_id = @domain_id and id = @id;
