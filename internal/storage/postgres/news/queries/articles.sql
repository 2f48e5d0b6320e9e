-- name: LockSimilar :exec
-- Serializes writers of near-duplicates: similar SimHashes share a 16-bit part and
-- therefore a lock. Locks are taken in a fixed order, before any row lock.
select pg_advisory_xact_lock(827193, k) from (select unnest(@parts::int[]) as k order by 1) ordered;

-- name: ArticleByURL :one
select * from articles where domain_id = @domain_id and url_id = @url_id for update;

-- name: NearestArticle :one
-- The nearest article within change.MaxNearDistance bits; ties go to the oldest.
select id, group_id, bit_count((simhash # @simhash::bigint)::bit(64))::int as distance from articles
where simhash <> 0 and id <> @id
  and ((simhash & 65535) = (@simhash::bigint & 65535) or ((simhash >> 16) & 65535) = ((@simhash::bigint >> 16) & 65535)
    or ((simhash >> 32) & 65535) = ((@simhash::bigint >> 32) & 65535)
      or ((simhash >> 48) & 65535) = ((@simhash::bigint >> 48) & 65535))
  and bit_count((simhash # @simhash::bigint)::bit(64)) <= @near::int
order by distance, id limit 1;

-- name: GroupHasOthers :one
select exists (select 1 from articles where group_id = @group_id and id <> @id);

-- name: InsertArticle :exec
insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, authors, published_at, modified_at,
  date_only, first_seen_at, lead, body_text, body_html,
    image_url, section, tags, language, site_name, origins, content_hash, simhash, group_id, object_key, fetched_at,
      selector_version,
    access, noindex, noarchive, nosnippet, noai, tdm_reserved, tdm_policy, live_entries)
values (@id, @domain_id, @url_id, @page_id, @url, @canonical_url, @title, @authors, sqlc.narg('published_at'),
  sqlc.narg('modified_at'), @date_only, @first_seen_at, @lead, @body_text, @body_html,
    @image_url, @section, @tags, @language, @site_name, @origins, @content_hash, @simhash, @group_id, @object_key,
      @fetched_at, @selector_version,
    @access, @noindex, @noarchive, @nosnippet, @noai, @tdm_reserved, @tdm_policy, @live_entries);

-- name: UpdateArticle :exec
update articles set url_id = @url_id, page_id = @page_id, url = @url, canonical_url = @canonical_url, title = @title,
  authors = @authors, published_at = sqlc.narg('published_at'),
    modified_at = sqlc.narg('modified_at'), date_only = @date_only, first_seen_at = least(first_seen_at,
      @first_seen_at), lead = @lead, body_text = @body_text, body_html = @body_html,
    image_url = @image_url, section = @section, tags = @tags, language = @language, site_name = @site_name,
      origins = @origins, content_hash = @content_hash, simhash = @simhash,
    group_id = @group_id, object_key = @object_key, fetched_at = @fetched_at, selector_version = @selector_version,
      version = @version, updated_at = clock_timestamp(),
    access = @access, noindex = @noindex, noarchive = @noarchive, nosnippet = @nosnippet, noai = @noai,
      tdm_reserved = @tdm_reserved, tdm_policy = @tdm_policy, live_entries = @live_entries,
    removed_at = case when removed_at > @fetched_at then removed_at end, moved_to = case when removed_at > @fetched_at
      then moved_to end
where id = @id;

-- name: FindMovedArticle :one
-- The article whose page redirects to this one.
select * from articles where domain_id = @domain_id and moved_to = @page_id::uuid order by fetched_at desc,
  id limit 1 for update;

-- name: MarkArticlesRemoved :many
-- Marks the articles of a removed page, unless the page was fetched since.
update articles set removed_at = @removed_at::timestamptz, moved_to = sqlc.narg('moved_to'),
  updated_at = clock_timestamp()
where domain_id = @domain_id and page_id = @page_id and removed_at is null and fetched_at < @removed_at::timestamptz
returning id;

-- name: HasOlderCrawledPage :one
-- Reports whether an older version of the page is still queued.
select exists (select 1 from crawled_pages c where c.domain_id = @domain_id and c.url_id = @url_id and c.id < @id);

-- name: RestoreArticleURL :exec
-- Restores the canonical URL of an article to that of its page.
update articles set url_id = page_id, canonical_url = url, updated_at = clock_timestamp() where id = @id;

-- name: TouchArticle :exec
-- Records that the page was fetched again with the same content.
update articles set object_key = @object_key, fetched_at = @fetched_at where id = @id;

-- name: DeleteArticle :exec
delete from articles where id = @id;

-- name: InsertRevision :exec
insert into article_revisions (article_id, version, seen_at, changed, title, authors, published_at, modified_at, lead,
  body_text, image_url, section, tags, content_hash, object_key, selector_version)
select id, version, fetched_at, @changed::text[], title, authors, published_at, modified_at, lead, body_text, image_url,
  section, tags, content_hash, object_key, selector_version
from articles where id = @id;

-- name: InsertArticleChange :exec
-- Queues a change for the search index, for stories and, if there are rules, for them.
with queued as (
    insert into rule_articles (article_id) select @article_id where @kind::change_kind = 'upsert'
      and exists (select 1 from rules)
), story as (
    insert into story_queue (language, article_id)
    select coalesce((select s.language from story_articles m join stories s on s.id = m.story_id
      where m.article_id = @article_id), (select a.language from articles a where a.id = @article_id)), @article_id
    where exists (select 1 from articles a where a.id = @article_id) or exists (select 1 from story_articles m
      where m.article_id = @article_id)
)
insert into article_changes (article_id, kind, first) values (@article_id, @kind, @first);

-- name: LeaseArticleChanges :many
-- Leases changes to an indexer. A change that is not completed before its lease
-- ends is leased again.
update article_changes c set leased_until = clock_timestamp() + make_interval(secs => @seconds::float8),
  attempts = attempts + 1
from (select id from article_changes where leased_until <= clock_timestamp() order by leased_until,
  id limit @batch for update skip locked) picked
where c.id = picked.id
returning c.*;

-- name: CompleteArticleChanges :many
-- Returns the age in seconds of new articles that were published while their site
-- was crawled. Some pages state only the minute of the publication.
with done as (delete from article_changes where id = any(@ids::bigint[]) returning article_id, first)
select extract(epoch from clock_timestamp() - a.published_at)::float8 as seconds
from done join articles a on a.id = done.article_id join crawl_domains d on d.id = a.domain_id
where done.first and not a.date_only and a.published_at >= date_trunc('minute', d.created_at)
  and a.published_at <= clock_timestamp();

-- name: ArticlesByIDs :many
-- Documents for the search index; removed articles and those with noindex are not indexed.
select a.*, d.domain from articles a join crawl_domains d on d.id = a.domain_id where a.id = any(@ids::uuid[])
  and a.removed_at is null and not a.noindex;

-- name: ArticlesAfter :many
-- All articles in the order of their ids, for an index rebuild.
select a.*, d.domain from articles a join crawl_domains d on d.id = a.domain_id where a.id > @after_id
  and a.removed_at is null and not a.noindex order by a.id limit @batch;

-- name: ArticleOfWorkspace :one
select sqlc.embed(a), d.domain from articles a join crawl_domains d on d.id = a.domain_id
where a.id = @id and exists (select 1 from seeds s where s.domain_id = a.domain_id and s.workspace_id = @workspace_id);

-- name: ArticlesOfWorkspace :many
-- The newest first, without their bodies: either current or removed articles.
select a.id, a.domain_id, d.domain, a.url, a.canonical_url, a.title, a.authors, a.published_at, a.modified_at,
  a.date_only, a.first_seen_at, a.dated_at, a.lead, a.image_url,
    a.section, a.tags, a.language, a.site_name, a.group_id, a.version, a.updated_at, a.removed_at,
    a.access, a.noindex, a.noarchive, a.nosnippet, a.noai, a.tdm_reserved, a.tdm_policy
from articles a join crawl_domains d on d.id = a.domain_id
where a.domain_id = any(array(select distinct s.domain_id from seeds s where s.workspace_id = @workspace_id))
  and (@domain::text = '' or a.domain_id = (select o.id from crawl_domains o where o.domain = @domain))
  and (@removed::bool or a.removed_at is null) and (not @removed::bool or a.removed_at is not null)
  and a.dated_at >= @from_time and a.dated_at < @to_time
  and (a.dated_at, a.id) < (@before_time::timestamptz, @before_id::uuid)
order by a.dated_at desc, a.id desc limit @page_size;

-- name: AlsoReportedBy :many
-- Near-duplicates of an article on domains that the workspace crawls, the oldest first.
select a.id, a.domain_id, d.domain, a.url, a.canonical_url, a.title, a.authors, a.published_at, a.modified_at,
  a.date_only, a.first_seen_at, a.dated_at, a.lead, a.image_url,
    a.section, a.tags, a.language, a.site_name, a.group_id, a.version, a.updated_at, a.removed_at, a.simhash,
    a.access, a.noindex, a.noarchive, a.nosnippet, a.noai, a.tdm_reserved, a.tdm_policy
from articles a join crawl_domains d on d.id = a.domain_id
where a.group_id = @group_id and a.id <> @id and exists (select 1 from seeds s where s.domain_id = a.domain_id
  and s.workspace_id = @workspace_id)
order by a.dated_at, a.id limit @page_size;

-- name: ListRevisions :many
select version, seen_at, changed, title, content_hash, selector_version, length(body_text)::int as characters
  from article_revisions
where article_id = @article_id and version < @before order by version desc limit @page_size;

-- name: GetRevision :one
select * from article_revisions where article_id = @article_id and version = @version;

-- name: CountWaitingPages :one
-- Pages that are not extracted yet, counted up to a limit.
select count(*) from (select 1 from crawled_pages where leased_until <= clock_timestamp() limit @max_count) waiting;

-- name: DeleteCrawledPage :execrows
-- No row: the page was leased to another worker.
delete from crawled_pages where id = @id and attempts = @attempts;

-- name: ReleaseCrawledPage :exec
-- Returns a page to the queue after a temporary failure, which does not count as an
-- attempt: attempts count workers that died while processing the page.
update crawled_pages set leased_until = clock_timestamp() + make_interval(secs => @seconds::float8),
  attempts = attempts - 1 where id = @id and attempts = @attempts;

-- name: RenewPageLeases :exec
update crawled_pages set leased_until = clock_timestamp() + make_interval(secs => @seconds::float8)
where id = any(@ids::bigint[]) and leased_until > clock_timestamp();

-- name: GetPageHeader :one
-- The response headers of a page version, if it still exists, and its domain.
select d.domain, d.rules, coalesce(v.final_url, '')::text as final_url, coalesce(v.header, '{}')::jsonb as header
from crawl_domains d left join page_versions v on v.domain_id = d.id and v.url_id = @url_id
  and v.fetched_at = @fetched_at
where d.id = @domain_id;

-- name: GetSiteMonitor :one
select * from site_monitors where domain_id = @domain_id;

-- name: LockSiteMonitor :one
-- Locks the row of a site and creates it if needed.
insert into site_monitors (domain_id) values (@domain_id)
on conflict (domain_id) do update set domain_id = excluded.domain_id
returning *;

-- name: SaveSiteMonitor :exec
update site_monitors set monitor = @monitor, updated_at = clock_timestamp() where domain_id = @domain_id;

-- name: AddPageCounts :exec
update site_monitors set pages = pages + 1, articles = articles + @articles::int,
  non_articles = non_articles + @non_articles::int, failed = failed + @failed::int,
    no_article_reasons = case when @reason::text = '' then no_article_reasons
        else no_article_reasons || jsonb_build_object(@reason, coalesce((no_article_reasons ->> @reason)::bigint,
          0) + 1) end,
    last_error = case when @error::text = '' then last_error else @error end,
    last_error_at = case when @error::text = '' then last_error_at else clock_timestamp() end
where domain_id = @domain_id;

-- name: PutPageWithoutArticle :exec
insert into pages_without_article (domain_id, url_id, url, fetched_at, reason, detail)
values (@domain_id, @url_id, @url, @fetched_at, @reason, @detail)
on conflict (domain_id, url_id) do update set url = excluded.url, fetched_at = excluded.fetched_at,
  reason = excluded.reason, detail = excluded.detail;

-- name: DeletePageWithoutArticle :exec
delete from pages_without_article where domain_id = @domain_id and url_id = @url_id;

-- name: ListPagesWithoutArticle :many
-- The newest pages without an article.
select url, fetched_at, reason, detail from pages_without_article where domain_id = @domain_id
order by fetched_at desc limit @batch;

-- name: RequestSelectorAction :exec
update site_monitors set requested_action = @action, action_field = @field, action_reason = @reason,
    action_requested_at = case when @action = 'none'::selector_action then null else clock_timestamp() end
where domain_id = @domain_id;

-- name: OverdueSelectorActions :many
-- Sites whose requested action was not done for a while, the oldest request first.
select d.domain from site_monitors m join crawl_domains d on d.id = m.domain_id
where m.requested_action <> 'none'
  and m.action_requested_at < clock_timestamp() - make_interval(secs => @seconds::float8) order by m.action_requested_at
  limit @batch;

-- name: UpdateExtractionSettings :exec
update site_monitors set time_zone = @time_zone, learning_enabled = @learning_enabled, updated_at = clock_timestamp()
  where domain_id = @domain_id;

-- name: ActiveSelectors :one
select * from site_selectors where domain_id = @domain_id and state = 'active';

-- name: GetSelectors :one
select * from site_selectors where domain_id = @domain_id and version = @version;

-- name: ListSelectors :many
select * from site_selectors where domain_id = @domain_id and version < @before order by version desc limit @page_size;

-- name: NextSelectorVersion :one
select (coalesce(max(version), 0) + 1)::int from site_selectors where domain_id = @domain_id;

-- name: InsertSelectors :one
insert into site_selectors (domain_id, version, config, created_by, actor, reason, scores, pages)
values (@domain_id, @version, @config, @created_by, @actor, @reason, @scores, @pages) returning *;

-- name: DeactivateSelectors :exec
-- Ends the active version.
update site_selectors set state = @state, end_reason = @end_reason, ended_at = clock_timestamp()
  where domain_id = @domain_id and state = 'active';

-- name: ActivateSelectors :exec
update site_selectors set state = 'active', activated_at = clock_timestamp(), end_reason = null, ended_at = null
  where domain_id = @domain_id and version = @version;

-- name: InsertSelectorEvents :exec
-- Raises an event in every workspace that has seeds on the domain.
insert into post_events (workspace_id, type, actor, data)
select distinct s.workspace_id, @type::text, @actor::text, @data::jsonb from seeds s where s.domain_id = @domain_id;

-- name: RecentArticlePages :many
-- The newest pages of a site that contain an article.
select id, url, page_id, object_key, fetched_at, title from articles where domain_id = @domain_id
order by fetched_at desc, id desc limit @batch;

-- name: RequeueArticlePages :exec
-- Queues the newest pages of a site that contain an article to be extracted again.
insert into crawled_pages (domain_id, url_id, fetched_at, url, object_key, found_at, is_first_version)
select a.domain_id, a.page_id, a.fetched_at, a.url, a.object_key, a.first_seen_at, false
from (select * from articles where articles.domain_id = @domain_id and removed_at is null
  order by fetched_at desc, id desc limit @batch) a
where not exists (select 1 from crawled_pages c where c.domain_id = a.domain_id and c.url_id = a.page_id);

-- name: SaveMarks :exec
update site_monitors set marks = @marks, updated_at = clock_timestamp() where domain_id = @domain_id;

-- name: ReserveTokens :one
-- No row: the daily budget is exceeded.
insert into llm_usage as u (day, tokens) select current_date, @tokens::bigint where @tokens::bigint <= @budget::bigint
on conflict (day) do update set tokens = u.tokens + excluded.tokens where u.tokens + excluded.tokens <= @budget::bigint
returning day;

-- name: AdjustTokens :exec
update llm_usage set tokens = greatest(tokens + @tokens::bigint, 0) where day = @day;

-- name: CountTokensToday :one
select coalesce((select tokens from llm_usage where day = current_date), 0)::bigint;

-- name: GetSiteSelectors :one
-- The settings and active selectors of a site.
select d.id, d.domain, coalesce(m.time_zone, '')::text as time_zone, coalesce(m.marks, '[]')::jsonb as marks,
  coalesce(s.version, 0)::int as version, s.config
from crawl_domains d left join site_monitors m on m.domain_id = d.id left join site_selectors s on s.domain_id = d.id
  and s.state = 'active'
where d.id = @id;
