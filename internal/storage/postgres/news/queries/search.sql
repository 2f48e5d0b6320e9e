-- name: CurrentRebuild :one
select coalesce((select name from search_rebuild), '')::text;

-- name: SetRebuild :exec
insert into search_rebuild (name) values (@name) on conflict (singleton) do update set name = excluded.name,
  started_at = clock_timestamp();

-- name: ClearRebuild :exec
delete from search_rebuild where name = @name;

-- name: GetRebuild :one
select * from search_rebuild_progress;

-- name: RequestRebuild :exec
-- An active rebuild continues.
insert into search_rebuild_progress (status) values ('pending')
on conflict (singleton) do update set status = 'pending', done = 0, total = 0, started_at = clock_timestamp(),
  finished_at = null
where search_rebuild_progress.status not in ('pending', 'running');

-- name: StartRebuild :execrows
-- Starts a rebuild unless it was canceled, with the number of the articles that ArticlesAfter lists.
insert into search_rebuild_progress (status, total) values ('running', (select count(*) from articles
  where removed_at is null and not noindex))
on conflict (singleton) do update set status = 'running', done = 0, total = excluded.total, finished_at = null
where search_rebuild_progress.status <> 'canceled';

-- name: UpdateRebuild :execrows
-- No row: it was canceled. Articles are added while it runs.
update search_rebuild_progress set status = 'running', done = @done, total = greatest(total, @done)
where status in ('pending', 'running') and exists (select from search_rebuild where name = @name);

-- name: FinishRebuild :exec
with ended as (delete from search_rebuild where name = @name returning name)
update search_rebuild_progress set status = 'done', done = @done, total = @done, finished_at = clock_timestamp()
where exists (select from ended);

-- name: CancelRebuild :exec
with ended as (delete from search_rebuild)
update search_rebuild_progress set status = 'canceled', finished_at = clock_timestamp()
where status in ('pending', 'running');

-- name: ListDomainNames :many
-- Domains on which a workspace has seeds.
select distinct d.domain from seeds s join crawl_domains d on d.id = s.domain_id where s.workspace_id = @workspace_id
  order by d.domain;

-- name: InsertSavedSearch :one
insert into saved_searches (id, workspace_id, user_id, name, query, mode, domains, languages, sections, tags, authors,
  alert)
select @id, @workspace_id, sqlc.narg('user_id'), @name, @query, @mode, @domains::text[], @languages::text[],
  @sections::text[], @tags::text[], @authors::text[], @alert
where (select count(*) from saved_searches s where s.workspace_id = @workspace_id) < @max_searches::int
returning *;

-- name: ListSavedSearches :many
select * from saved_searches where workspace_id = @workspace_id order by id;

-- name: GetSavedSearch :one
select * from saved_searches where id = @id and workspace_id = @workspace_id;

-- name: GetSavedSearchWithFeed :one
select * from saved_searches where id = @id and feed_hash is not null;

-- name: UpdateSavedSearch :one
-- reset_alerts restarts alerts from now: the search changed, or alerts were enabled.
update saved_searches set name = @name, query = @query, mode = @mode, domains = @domains::text[],
  languages = @languages::text[], sections = @sections::text[],
    tags = @tags::text[], authors = @authors::text[], alert = @alert,
    alert_since = case when @reset_alerts::bool then clock_timestamp() else alert_since end, version = version + 1,
      updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and version = @version
returning *;

-- name: CountSearchAlerts :many
-- The number of alerts for each search, and the time of the alert for its newest
-- article: article ids increase over time.
select s.id, (select count(*) from saved_search_matches m where m.search_id = s.id) as alert_count,
    (select m.alerted_at from saved_search_matches m where m.search_id = s.id order by m.article_id desc
      limit 1)::timestamptz as last_alerted_at
from saved_searches s
where s.workspace_id = @workspace_id and (@id::uuid = '00000000-0000-0000-0000-000000000000' or s.id = @id)
  and exists (select 1 from saved_search_matches m where m.search_id = s.id);

-- name: ListSearchMatches :many
-- Existing articles for which a search alerted, the newest first.
select a.id, a.title, a.canonical_url, d.domain, m.alerted_at
from saved_search_matches m join articles a on a.id = m.article_id join crawl_domains d on d.id = a.domain_id
where m.search_id = @search_id and m.article_id < @before
  and exists (select 1 from seeds s where s.domain_id = a.domain_id and s.workspace_id = @workspace_id)
order by m.article_id desc limit @page_size;

-- name: SetFeed :one
update saved_searches set feed_hash = sqlc.narg('feed_hash'), updated_at = clock_timestamp() where id = @id
  and workspace_id = @workspace_id returning *;

-- name: DeleteSavedSearch :execrows
delete from saved_searches where id = @id and workspace_id = @workspace_id;

-- name: ListAlertingSearches :many
select * from saved_searches where alert order by id;

-- name: RecordMatches :execrows
-- Records new matches and raises their events in one statement, so that an article
-- causes one alert for each search however often it is indexed.
with fresh as (
    insert into saved_search_matches (search_id, article_id)
    select m.search_id, m.article_id
    from (select unnest(@search_ids::uuid[]) as search_id, unnest(@article_ids::uuid[]) as article_id) m
    join saved_searches s on s.id = m.search_id and s.alert
    join articles a on a.id = m.article_id and a.first_seen_at >= s.alert_since
    where exists (select 1 from seeds e where e.workspace_id = s.workspace_id and e.domain_id = a.domain_id)
    order by m.search_id, m.article_id
    on conflict do nothing
    returning search_id, article_id
)
insert into post_events (workspace_id, type, actor, data)
select s.workspace_id, 'article_matched', 'dateline', jsonb_build_object('saved_search_id', s.id, 'article_id', a.id,
  'url', a.canonical_url)
from fresh f join saved_searches s on s.id = f.search_id join articles a on a.id = f.article_id
order by s.id, a.id;
