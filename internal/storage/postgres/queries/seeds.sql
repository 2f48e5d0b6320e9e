-- name: CrawlDomain :one
-- The row of a domain, made where there is none.
insert into crawl_domains (domain) values (@domain)
on conflict (domain) do update set domain = excluded.domain
returning *;

-- name: InsertSeed :one
-- No row: the workspace has this seed already.
insert into seeds (id, workspace_id, domain_id, url_id, url, kind, title, status, priority, min_seconds, max_seconds, every_seconds, allow, deny, depth, budget)
values (@id, @workspace_id, @domain_id, @url_id, @url, @kind, @title, @status, @priority, @min_seconds, @max_seconds, @every_seconds, @allow, @deny, @depth, @budget)
on conflict (workspace_id, url_id) do nothing
returning *;

-- name: GetSeed :one
select sqlc.embed(s), d.domain from seeds s join crawl_domains d on d.id = s.domain_id where s.id = @id and s.workspace_id = @workspace_id;

-- name: ListSeeds :many
select sqlc.embed(s), d.domain from seeds s join crawl_domains d on d.id = s.domain_id
where s.workspace_id = @workspace_id and s.id > @after_id and (@domain::text = '' or d.domain = @domain)
order by s.id limit @page_size;

-- name: UpdateSeed :one
-- An edit makes the seed due: what it finds may be wanted under the new rules.
update seeds set kind = @kind, title = @title, status = @status, priority = @priority, min_seconds = @min_seconds, max_seconds = @max_seconds,
    every_seconds = least(greatest(every_seconds, @min_seconds), @max_seconds), allow = @allow, deny = @deny, depth = @depth, budget = @budget,
    next_crawl = clock_timestamp(), version = version + 1, updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and version = @version
returning *;

-- name: DeleteSeed :one
delete from seeds where id = @id and workspace_id = @workspace_id returning *;

-- name: CountSeeds :one
select count(*) from seeds where workspace_id = @workspace_id;

-- name: DomainsToPlan :many
-- The domains of the seeds that have been due for longest.
select distinct picked.domain_id from (
    select due.domain_id from seeds due join crawl_domains d on d.id = due.domain_id
    where due.status = 'active' and due.next_crawl <= statement_timestamp() and d.paused_at is null
    order by due.next_crawl limit @batch) picked;

-- name: PlanSeeds :many
-- Takes the seeds that are due. Those that a run takes and cannot plan come
-- again at their next time.
update seeds s set next_crawl = clock_timestamp() + make_interval(secs => s.every_seconds), last_crawl = clock_timestamp()
from (select due.id from seeds due join crawl_domains d on d.id = due.domain_id
      where due.domain_id = any(@domains::int[]) and due.status = 'active' and due.next_crawl <= statement_timestamp() and d.paused_at is null
      order by due.next_crawl limit @batch for update of due skip locked) picked
where s.id = picked.id
returning s.*;

-- name: PutHubs :exec
-- Makes hubs due, and brings back those that were emptied. A hub that several
-- workspaces want is not fetched more often than the keenest of them asks.
insert into urls (domain_id, id, url, kind, rank, depth, seed_no, every_seconds, due_at)
select unnest(@domain_ids::int[]), unnest(@ids::uuid[]), unnest(@urls::text[]), unnest(@kinds::text[])::url_kind, unnest(@ranks::smallint[]), 0,
    unnest(@seed_nos::int[]), 0, clock_timestamp()
on conflict (domain_id, id) do update set seed_no = excluded.seed_no, kind = excluded.kind, rank = excluded.rank,
    due_at = case when urls.lease is null then least(urls.due_at, clock_timestamp()) else urls.due_at end;

-- name: DueNow :exec
update crawl_domains set next_due = least(next_due, clock_timestamp()) where id = any(@ids::int[]);

-- name: SeedsOfDomain :many
select * from seeds where domain_id = @domain_id and status = 'active' order by no;

-- name: SeedsCrawled :exec
-- Seeds that found something are asked sooner the next time, others later,
-- between their bounds; a failure changes nothing but what is told of it.
update seeds set last_problem = @problem, last_found = case when @found::boolean then clock_timestamp() else last_found end,
    every_seconds = a.every, next_crawl = case when @problem = '' then greatest(clock_timestamp(), seeds.last_crawl + make_interval(secs => a.every)) else next_crawl end
from (select s.id, least(greatest(round(s.every_seconds * @factor::float8)::int, s.min_seconds), s.max_seconds) as every from seeds s
      where s.domain_id = @domain_id and s.url_id = @url_id) a
where seeds.id = a.id;

-- name: OthersOnDomain :one
select exists (select 1 from seeds where domain_id = @domain_id and workspace_id <> @workspace_id);

-- name: InsertCrawlExport :exec
insert into crawl_exports (id, workspace_id, domain) values (@id, @workspace_id, @domain);

-- name: HasCrawlExport :one
select exists (select from crawl_exports where id = @id and workspace_id = @workspace_id and domain = @domain);
