-- name: Rebuilding :one
select coalesce((select name from search_rebuild), '')::text;

-- name: SetRebuilding :exec
insert into search_rebuild (name) values (@name) on conflict (one) do update set name = excluded.name, started_at = clock_timestamp();

-- name: EndRebuilding :exec
delete from search_rebuild where name = @name;

-- name: DomainNames :many
-- The domains whose articles a workspace sees.
select distinct d.domain from seeds s join crawl_domains d on d.id = s.domain_id where s.workspace_id = @workspace_id order by d.domain;

-- name: InsertSavedSearch :one
insert into saved_searches (id, workspace_id, user_id, name, query, mode, domains, languages, sections, tags, authors, alert)
select @id, @workspace_id, sqlc.narg('user_id'), @name, @query, @mode, @domains::text[], @languages::text[], @sections::text[], @tags::text[], @authors::text[], @alert
where (select count(*) from saved_searches s where s.workspace_id = @workspace_id) < @most::int
returning *;

-- name: ListSavedSearches :many
select * from saved_searches where workspace_id = @workspace_id order by id;

-- name: GetSavedSearch :one
select * from saved_searches where id = @id and workspace_id = @workspace_id;

-- name: FeedOf :one
select * from saved_searches where id = @id and feed_hash is not null;

-- name: UpdateSavedSearch :one
-- Alerts that begin anew, or of another search, are of articles from then on.
update saved_searches set name = @name, query = @query, mode = @mode, domains = @domains::text[], languages = @languages::text[], sections = @sections::text[],
    tags = @tags::text[], authors = @authors::text[], alert = @alert,
    alert_since = case when @anew::bool then clock_timestamp() else alert_since end, version = version + 1, updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and version = @version
returning *;

-- name: ToldBySearches :many
-- How many articles searches told of, and when of the one that was found last:
-- ids of articles grow with time.
select s.id, (select count(*) from saved_search_matches m where m.search_id = s.id) as told,
    (select m.at from saved_search_matches m where m.search_id = s.id order by m.article_id desc limit 1)::timestamptz as last_at
from saved_searches s
where s.workspace_id = @workspace_id and (@id::uuid = '00000000-0000-0000-0000-000000000000' or s.id = @id)
  and exists (select 1 from saved_search_matches m where m.search_id = s.id);

-- name: MatchesOfSearch :many
-- What a search told of and is still there, those found last first.
select a.id, a.title, a.canonical_url, d.domain, m.at
from saved_search_matches m join articles a on a.id = m.article_id join crawl_domains d on d.id = a.domain_id
where m.search_id = @search_id and m.article_id < @before
  and exists (select 1 from seeds s where s.domain_id = a.domain_id and s.workspace_id = @workspace_id)
order by m.article_id desc limit @page_size;

-- name: SetFeed :one
update saved_searches set feed_hash = sqlc.narg('feed_hash'), updated_at = clock_timestamp() where id = @id and workspace_id = @workspace_id returning *;

-- name: DeleteSavedSearch :execrows
delete from saved_searches where id = @id and workspace_id = @workspace_id;

-- name: AlertingSearches :many
select * from saved_searches where alert order by id;

-- name: TellOfMatches :execrows
-- What is new for a search is noted and told in one statement: once, however
-- often an article is indexed.
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
select s.workspace_id, 'article_matched', 'dateline', jsonb_build_object('saved_search_id', s.id, 'article_id', a.id, 'url', a.canonical_url)
from fresh f join saved_searches s on s.id = f.search_id join articles a on a.id = f.article_id
order by s.id, a.id;
