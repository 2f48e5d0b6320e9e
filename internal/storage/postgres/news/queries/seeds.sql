-- name: UpsertCrawlDomain :one
-- Returns the row of a domain, inserting it if needed.
insert into crawl_domains (domain) values (@domain)
on conflict (domain) do update set domain = excluded.domain
returning *;

-- name: InsertSeed :one
-- No row: the workspace already has this seed.
insert into seeds (id, workspace_id, domain_id, url_id, url, kind, title, status, priority, min_interval_seconds,
  max_interval_seconds, interval_seconds, allow, deny, max_depth, daily_budget)
values (@id, @workspace_id, @domain_id, @url_id, @url, @kind, @title, @status, @priority, @min_interval_seconds,
  @max_interval_seconds, @interval_seconds, @allow, @deny, @max_depth, @daily_budget)
on conflict (workspace_id, url_id) do nothing
returning *;

-- name: GetSeed :one
select sqlc.embed(s), d.domain from seeds s join crawl_domains d on d.id = s.domain_id where s.id = @id
  and s.workspace_id = @workspace_id;

-- name: ListSeeds :many
select sqlc.embed(s), d.domain from seeds s join crawl_domains d on d.id = s.domain_id
where s.workspace_id = @workspace_id and s.id > @after_id and (@domain::text = '' or d.domain = @domain)
order by s.id limit @page_size;

-- name: UpdateSeed :one
-- An update makes the seed due, because the new rules may allow more links.
update seeds set kind = @kind, title = @title, status = @status, priority = @priority,
  min_interval_seconds = @min_interval_seconds, max_interval_seconds = @max_interval_seconds,
    interval_seconds = least(greatest(interval_seconds, @min_interval_seconds), @max_interval_seconds), allow = @allow,
      deny = @deny, max_depth = @max_depth, daily_budget = @daily_budget,
    next_crawl = clock_timestamp(), version = version + 1, updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and version = @version
returning *;

-- name: DeleteSeed :one
delete from seeds where id = @id and workspace_id = @workspace_id returning *;

-- name: CountSeeds :one
select count(*) from seeds where workspace_id = @workspace_id;

-- name: ListDomainsWithDueSeeds :many
-- The domains of the most overdue seeds.
select distinct picked.domain_id from (
    select due.domain_id from seeds due join crawl_domains d on d.id = due.domain_id
    where due.status = 'active' and due.next_crawl <= statement_timestamp() and d.paused_at is null
    order by due.next_crawl limit @batch) picked;

-- name: TakeDueSeeds :many
-- Returns the seeds that are due, and schedules their next crawl.
update seeds s set next_crawl = clock_timestamp() + make_interval(secs => s.interval_seconds),
  last_crawl = clock_timestamp()
from (select due.id from seeds due join crawl_domains d on d.id = due.domain_id
      where due.domain_id = any(@domains::int[]) and due.status = 'active' and due.next_crawl <= statement_timestamp()
        and d.paused_at is null
      order by due.next_crawl limit @batch for update of due skip locked) picked
where s.id = picked.id
returning s.*;

-- name: UpsertHubs :exec
-- Makes hubs due, and inserts those that are not in the frontier. A hub with
-- seeds in several workspaces is fetched at the shortest of their intervals.
insert into urls (domain_id, id, url, kind, rank, depth, seed_number, interval_seconds, due_at)
select unnest(@domain_ids::int[]), unnest(@ids::uuid[]), unnest(@urls::text[]), unnest(@kinds::text[])::url_kind,
  unnest(@ranks::smallint[]), 0,
    unnest(@seed_numbers::int[]), 0, clock_timestamp()
on conflict (domain_id, id) do update set seed_number = excluded.seed_number, kind = excluded.kind,
  rank = excluded.rank,
    due_at = case when urls.lease is null then least(urls.due_at, clock_timestamp()) else urls.due_at end;

-- name: MarkDomainsDue :exec
update crawl_domains set next_due = least(next_due, clock_timestamp()) where id = any(@ids::int[]);

-- name: ListActiveSeeds :many
select * from seeds where domain_id = @domain_id and status = 'active' order by number;

-- name: SetSeedKind :exec
update seeds set kind = @kind, version = version + 1, updated_at = clock_timestamp() where domain_id = @domain_id
  and url_id = @url_id and kind <> @kind;

-- name: RecordSeedCrawl :exec
-- Shortens or lengthens the interval of the hub's seeds within their bounds; a
-- failure only sets last_error. The next crawl is at least min_wait_seconds away.
update seeds set last_error = @last_error, last_found = case when @found::boolean then clock_timestamp()
  else last_found end,
    interval_seconds = a.interval, next_crawl = case when @last_error = '' then greatest(clock_timestamp(),
      seeds.last_crawl + make_interval(secs => greatest(a.interval, @min_wait_seconds::float8))) else next_crawl end
from (select s.id, least(greatest(round(s.interval_seconds * @factor::float8)::int, s.min_interval_seconds),
  s.max_interval_seconds) as interval from seeds s
      where s.domain_id = @domain_id and s.url_id = @url_id) a
where seeds.id = a.id;

-- name: IsDomainShared :one
select exists (select 1 from seeds where domain_id = @domain_id and workspace_id <> @workspace_id);

-- name: InsertCrawlExport :exec
insert into crawl_exports (id, workspace_id, domain) values (@id, @workspace_id, @domain);

-- name: HasCrawlExport :one
select exists (select from crawl_exports where id = @id and workspace_id = @workspace_id and domain = @domain);
