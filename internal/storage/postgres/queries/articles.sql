-- name: LockSimilar :exec
-- Two articles of one story that are stored at the same moment see each other:
-- near SimHashes share a part, and so a lock. Taken in one order, and before any
-- row.
select pg_advisory_xact_lock(827193, k) from (select unnest(@parts::int[]) as k order by 1) ordered;

-- name: ArticleAt :one
select * from articles where domain_id = @domain_id and url_id = @url_id for update;

-- name: NearestArticle :one
-- An article at most three bits away (change.Near), the nearest first, then the oldest.
select id, group_id, bit_count((simhash # @simhash::bigint)::bit(64))::int as distance from articles
where simhash <> 0 and id <> @id
  and ((simhash & 65535) = (@simhash::bigint & 65535) or ((simhash >> 16) & 65535) = ((@simhash::bigint >> 16) & 65535)
    or ((simhash >> 32) & 65535) = ((@simhash::bigint >> 32) & 65535) or ((simhash >> 48) & 65535) = ((@simhash::bigint >> 48) & 65535))
  and bit_count((simhash # @simhash::bigint)::bit(64)) <= @near::int
order by distance, id limit 1;

-- name: GroupHasOthers :one
select exists (select 1 from articles where group_id = @group_id and id <> @id);

-- name: InsertArticle :exec
insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, authors, published_at, modified_at, date_only, first_seen_at, lead, body_text, body_html,
    image_url, section, tags, language, site_name, origins, content_hash, simhash, group_id, object_key, fetched_at, selector_version)
values (@id, @domain_id, @url_id, @page_id, @url, @canonical_url, @title, @authors, sqlc.narg('published_at'), sqlc.narg('modified_at'), @date_only, @first_seen_at, @lead, @body_text, @body_html,
    @image_url, @section, @tags, @language, @site_name, @origins, @content_hash, @simhash, @group_id, @object_key, @fetched_at, @selector_version);

-- name: UpdateArticle :exec
update articles set url_id = @url_id, page_id = @page_id, url = @url, canonical_url = @canonical_url, title = @title, authors = @authors, published_at = sqlc.narg('published_at'),
    modified_at = sqlc.narg('modified_at'), date_only = @date_only, first_seen_at = least(first_seen_at, @first_seen_at), lead = @lead, body_text = @body_text, body_html = @body_html,
    image_url = @image_url, section = @section, tags = @tags, language = @language, site_name = @site_name, origins = @origins, content_hash = @content_hash, simhash = @simhash,
    group_id = @group_id, object_key = @object_key, fetched_at = @fetched_at, selector_version = @selector_version, version = @version, updated_at = clock_timestamp(),
    gone_at = case when gone_at > @fetched_at then gone_at end, moved_to = case when gone_at > @fetched_at then moved_to end
where id = @id;

-- name: MovedArticle :one
-- An article whose page leads to this one.
select * from articles where domain_id = @domain_id and moved_to = @page_id::uuid order by fetched_at desc, id limit 1 for update;

-- name: MarkGone :many
-- The articles of a page that is not there any more, unless it was read since.
update articles set gone_at = @gone_at::timestamptz, moved_to = sqlc.narg('moved_to'), updated_at = clock_timestamp()
where domain_id = @domain_id and page_id = @page_id and gone_at is null and fetched_at < @gone_at::timestamptz
returning id;

-- name: OlderCrawled :one
-- Whether something older of the same page waits.
select exists (select 1 from crawled_pages c where c.domain_id = @domain_id and c.url_id = @url_id and c.id < @id);

-- name: MoveArticle :exec
-- An article goes back to the name of the page that it was read from.
update articles set url_id = page_id, canonical_url = url where id = @id;

-- name: SeenArticle :exec
-- Its page was fetched anew and says the same.
update articles set object_key = @object_key, fetched_at = @fetched_at where id = @id;

-- name: DeleteArticle :exec
delete from articles where id = @id;

-- name: InsertRevision :exec
insert into article_revisions (article_id, version, seen_at, changed, title, authors, published_at, modified_at, lead, body_text, image_url, section, tags, content_hash, object_key, selector_version)
select id, version, fetched_at, @changed::text[], title, authors, published_at, modified_at, lead, body_text, image_url, section, tags, content_hash, object_key, selector_version
from articles where id = @id;

-- name: NoteArticleChange :exec
insert into article_changes (article_id, kind, first) values (@article_id, @kind, @first);

-- name: TakeArticleChanges :many
-- Leases changes to whoever indexes them; what is not declared done in time is
-- given out again.
update article_changes c set taken_until = clock_timestamp() + make_interval(secs => @seconds::float8), tries = tries + 1
from (select id from article_changes where taken_until <= clock_timestamp() order by taken_until, id limit @batch for update skip locked) picked
where c.id = picked.id
returning c.*;

-- name: ArticleChangesDone :many
-- Of new articles that came out while their site was watched, it says how many
-- seconds ago that was. Pages tell the minute of it at times, and no second.
with done as (delete from article_changes where id = any(@ids::bigint[]) returning article_id, first)
select extract(epoch from clock_timestamp() - a.published_at)::float8 as seconds
from done join articles a on a.id = done.article_id join crawl_domains d on d.id = a.domain_id
where done.first and not a.date_only and a.published_at >= date_trunc('minute', d.created_at) and a.published_at <= clock_timestamp();

-- name: ArticlesByIDs :many
-- For the search, which does not find what is gone.
select a.*, d.domain from articles a join crawl_domains d on d.id = a.domain_id where a.id = any(@ids::uuid[]) and a.gone_at is null;

-- name: ArticlesAfter :many
-- All articles in the order of their ids, for an index that is built anew.
select a.*, d.domain from articles a join crawl_domains d on d.id = a.domain_id where a.id > @after_id and a.gone_at is null order by a.id limit @batch;

-- name: ArticleOfWorkspace :one
select sqlc.embed(a), d.domain from articles a join crawl_domains d on d.id = a.domain_id
where a.id = @id and exists (select 1 from seeds s where s.domain_id = a.domain_id and s.workspace_id = @workspace_id);

-- name: ArticlesOfWorkspace :many
-- The newest first, without their bodies: those whose pages are there, or those
-- whose pages are gone.
select a.id, a.domain_id, d.domain, a.url, a.canonical_url, a.title, a.authors, a.published_at, a.modified_at, a.date_only, a.first_seen_at, a.dated_at, a.lead, a.image_url,
    a.section, a.tags, a.language, a.site_name, a.group_id, a.version, a.updated_at, a.gone_at
from articles a join crawl_domains d on d.id = a.domain_id
where a.domain_id = any(array(select distinct s.domain_id from seeds s where s.workspace_id = @workspace_id))
  and (@domain::text = '' or a.domain_id = (select o.id from crawl_domains o where o.domain = @domain))
  and (@gone::bool or a.gone_at is null) and (not @gone::bool or a.gone_at is not null)
  and a.dated_at >= @from_time and a.dated_at < @to_time
  and (a.dated_at, a.id) < (@before_time::timestamptz, @before_id::uuid)
order by a.dated_at desc, a.id desc limit @page_size;

-- name: AlsoReportedBy :many
-- The other articles of a story, the oldest first, of domains that the workspace sees.
select a.id, a.domain_id, d.domain, a.url, a.canonical_url, a.title, a.authors, a.published_at, a.modified_at, a.date_only, a.first_seen_at, a.dated_at, a.lead, a.image_url,
    a.section, a.tags, a.language, a.site_name, a.group_id, a.version, a.updated_at, a.gone_at, a.simhash
from articles a join crawl_domains d on d.id = a.domain_id
where a.group_id = @group_id and a.id <> @id and exists (select 1 from seeds s where s.domain_id = a.domain_id and s.workspace_id = @workspace_id)
order by a.dated_at, a.id limit @page_size;

-- name: ListRevisions :many
select version, seen_at, changed, title, content_hash, selector_version, length(body_text)::int as characters from article_revisions
where article_id = @article_id and version < @before order by version desc limit @page_size;

-- name: GetRevision :one
select * from article_revisions where article_id = @article_id and version = @version;

-- name: CrawledWaiting :one
-- Pages that wait to be read, up to a number.
select count(*) from (select 1 from crawled_pages where leased_until <= clock_timestamp() limit @most) waiting;

-- name: FinishCrawled :execrows
-- None: somebody else has taken the page meanwhile.
delete from crawled_pages where id = @id and attempts = @attempts;

-- name: ReleaseCrawled :exec
-- Gives a page back that could not be read now. What is left in tries counts
-- those who took a page and never came back.
update crawled_pages set leased_until = clock_timestamp() + make_interval(secs => @seconds::float8), attempts = attempts - 1 where id = @id and attempts = @attempts;

-- name: RenewCrawled :exec
update crawled_pages set leased_until = clock_timestamp() + make_interval(secs => @seconds::float8)
where id = any(@ids::bigint[]) and leased_until > clock_timestamp();

-- name: PageHeader :one
-- How a page was served, and by whom; the version may have been swept.
select d.domain, d.rules, coalesce(v.final_url, '')::text as final_url, coalesce(v.header, '{}')::jsonb as header
from crawl_domains d left join page_versions v on v.domain_id = d.id and v.url_id = @url_id and v.fetched_at = @fetched_at
where d.id = @domain_id;

-- name: GetMonitor :one
select * from site_monitors where domain_id = @domain_id;

-- name: LockMonitor :one
-- The row of a site, made where there is none.
insert into site_monitors (domain_id) values (@domain_id)
on conflict (domain_id) do update set domain_id = excluded.domain_id
returning *;

-- name: SaveMonitor :exec
update site_monitors set monitor = @monitor, updated_at = clock_timestamp() where domain_id = @domain_id;

-- name: CountPages :exec
update site_monitors set pages = pages + 1, articles = articles + @articles::int, others = others + @others::int, failed = failed + @failed::int,
    last_problem = case when @problem::text = '' then last_problem else @problem end,
    last_problem_at = case when @problem::text = '' then last_problem_at else clock_timestamp() end
where domain_id = @domain_id;

-- name: WishSelectors :exec
update site_monitors set wish = @wish, wish_field = @field, wish_why = @why, wish_at = case when @wish = 'none'::selector_wish then null else clock_timestamp() end
where domain_id = @domain_id;

-- name: WishedSelectors :many
-- Sites about whose selectors something is to be done, and for how long nobody has.
select d.domain from site_monitors m join crawl_domains d on d.id = m.domain_id
where m.wish <> 'none' and m.wish_at < clock_timestamp() - make_interval(secs => @seconds::float8) order by m.wish_at limit @batch;

-- name: SetReading :exec
update site_monitors set zone = @zone, learning = @learning, updated_at = clock_timestamp() where domain_id = @domain_id;

-- name: ActiveSelectors :one
select * from site_selectors where domain_id = @domain_id and state = 'active';

-- name: GetSelectors :one
select * from site_selectors where domain_id = @domain_id and version = @version;

-- name: ListSelectors :many
select * from site_selectors where domain_id = @domain_id and version < @before order by version desc limit @page_size;

-- name: NextSelectorVersion :one
select (coalesce(max(version), 0) + 1)::int from site_selectors where domain_id = @domain_id;

-- name: InsertSelectors :one
insert into site_selectors (domain_id, version, config, made_by, maker, reason, scores, pages)
values (@domain_id, @version, @config, @made_by, @maker, @reason, @scores, @pages) returning *;

-- name: EndSelectors :exec
-- Takes the version in use out of it.
update site_selectors set state = @state, ended = @ended, ended_at = clock_timestamp() where domain_id = @domain_id and state = 'active';

-- name: ActivateSelectors :exec
update site_selectors set state = 'active', activated_at = clock_timestamp(), ended = '', ended_at = null where domain_id = @domain_id and version = @version;

-- name: TellOfSelectors :exec
-- An event in every workspace that has seeds on the domain.
insert into post_events (workspace_id, type, actor, data)
select distinct s.workspace_id, @type::text, @actor::text, @data::jsonb from seeds s where s.domain_id = @domain_id;

-- name: PagesToLearn :many
-- The newest pages of a site that gave an article.
select id, url, page_id, object_key, fetched_at from articles where domain_id = @domain_id order by fetched_at desc, id desc limit @batch;

-- name: SpendTokens :one
-- No row: the day's budget does not suffice.
insert into model_usage as u (day, tokens) select current_date, @tokens::bigint where @tokens::bigint <= @budget::bigint
on conflict (day) do update set tokens = u.tokens + excluded.tokens where u.tokens + excluded.tokens <= @budget::bigint
returning day;

-- name: CorrectTokens :exec
update model_usage set tokens = greatest(tokens + @tokens::bigint, 0) where day = @day;

-- name: TokensToday :one
select coalesce((select tokens from model_usage where day = current_date), 0)::bigint;

-- name: SiteReading :one
-- How the pages of a site are read right now.
select d.id, d.domain, coalesce(m.zone, '')::text as zone, coalesce(s.version, 0)::int as version, s.config
from crawl_domains d left join site_monitors m on m.domain_id = d.id left join site_selectors s on s.domain_id = d.id and s.state = 'active'
where d.id = @id;
