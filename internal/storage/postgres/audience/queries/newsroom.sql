-- name: ArticleSites :many
-- Sites with the crawled domains of their workspace that belong to one of their
-- hosts.
select sqlc.embed(s), array(
    select distinct d.id from seeds e join crawl_domains d on d.id = e.domain_id, unnest(s.domains) h(host)
    where e.workspace_id = s.workspace_id and (d.domain = h.host or right(d.domain, length(h.host) + 1) = '.' || h.host
      or right(h.host, length(d.domain) + 1) = '.' || d.domain)
    order by d.id)::integer[] as domain_ids
from sites s where cardinality(s.domains) > 0 order by s.id;

-- name: SiteArticleCursor :one
select * from site_article_cursors where site_id = @site_id;

-- name: SaveSiteArticleCursor :exec
insert into site_article_cursors (site_id, domains, domain_ids, updated_at, article_id)
select s.id, @domains::text[], @domain_ids::integer[], @updated_at::timestamptz, @article_id::uuid from sites s
  where s.id = @site_id
on conflict (site_id) do update set domains = excluded.domains, domain_ids = excluded.domain_ids,
  updated_at = excluded.updated_at, article_id = excluded.article_id;

-- name: ChangedArticles :many
select id, canonical_url, title, authors, section, tags, dated_at, updated_at from articles
where domain_id = any(@domain_ids::integer[]) and (updated_at, id) > (@after::timestamptz, @after_id::uuid)
order by updated_at, id limit @batch;

-- name: SaveSiteArticles :many
-- Authors and tags are separated by line breaks. Returns the pages whose views are
-- now counted for others.
insert into site_articles (site_id, page, article_id, title, authors, section, tags, published_at, published_on)
select w.site_id, w.page, w.article_id, w.title, string_to_array(w.authors, chr(10)), w.section,
  string_to_array(w.tags, chr(10)), w.published_at, w.published_on
from (select unnest(@site_ids::uuid[]) as site_id, unnest(@pages::text[]) as page, unnest(@article_ids::uuid[])
  as article_id, unnest(@titles::text[]) as title,
        unnest(@authors::text[]) as authors, unnest(@sections::text[]) as section, unnest(@tags::text[]) as tags,
          unnest(@times::timestamptz[]) as published_at,
        unnest(@days::date[]) as published_on) w
order by 1, 2
on conflict (site_id, page) do update set article_id = excluded.article_id, title = excluded.title,
  authors = excluded.authors, section = excluded.section,
    tags = excluded.tags, published_at = excluded.published_at, published_on = excluded.published_on
where (site_articles.article_id, site_articles.title, site_articles.authors, site_articles.section, site_articles.tags,
  site_articles.published_at)
    is distinct from (excluded.article_id, excluded.title, excluded.authors, excluded.section, excluded.tags,
      excluded.published_at)
returning page;

-- name: MarkSiteArticles :exec
-- Marks the days on which pages were read.
update site_days s set articles_due = true
where s.site_id = @site_id and not s.articles_due and s.day in (
    select d.day from view_days d join view_pages p on p.id = d.page_id
    where p.site_id = @site_id and p.page = any(@pages::text[]) and d.kind = 'view');

-- name: SiteArticleDaysDue :many
-- Older days are computed again at most once a day.
select site_id, day from site_days
where articles_due and (day >= (now() - interval '2 days')::date or articles_at < now() - interval '20 hours')
order by site_id, day limit @batch;

-- name: MarkSiteArticleDay :exec
update site_days set articles_due = false, articles_at = now() where site_id = @site_id and day = @day;

-- name: DeleteSiteArticleDay :exec
delete from site_article_days where site_id = @site_id and day = @day;

-- name: InsertSiteArticleDay :exec
-- Counts the views of articles, and those of pages without one. Each dimension
-- lists its max_values most viewed values.
with pages as materialized (
    select v.page_id, min(v.day) as day, min(p.page) as page, coalesce(sum(v.count) filter (where v.kind = 'view'), 0)
      as views,
        coalesce(sum(v.count) filter (where v.kind = 'entry'), 0) as entries,
          coalesce(sum(v.count) filter (where v.kind = 'recirculation'), 0) as recirculation
    from view_days v join view_pages p on p.id = v.page_id
    where p.site_id = @site_id and v.day = @day and v.kind in ('view', 'entry', 'recirculation') group by v.page_id
), matched as materialized (
    select pages.page_id, pages.views, pages.entries, pages.recirculation, a.authors, a.section, a.tags,
      pages.day - a.published_on as days, a.page is not null as has_article
    from pages left join site_articles a on a.site_id = @site_id and a.page = pages.page
), read as materialized (
    select m.has_article, m.views, m.entries, m.recirculation, m.authors, m.section, m.tags, m.days,
      coalesce(u.uniques, 0) as visitors, e.engaged, e.scrolled,
        case when m.has_article then coalesce((select sum(d.count) from view_dimensions d where d.page_id = m.page_id
          and d.day = @day and d.dimension = 'referrer'
            and d.value = any(@social_sources::text[])), 0) else 0 end as social_views
    from matched m left join view_uniques u on u.page_id = m.page_id and u.day = @day and m.has_article
    left join view_engagement e on e.page_id = m.page_id and e.day = @day and m.has_article
), sums as (
    select g.dimension, g.value, sum(r.views) as views, sum(r.visitors) as visitors, sum(r.entries) as entries,
      sum(r.recirculation) as recirculation,
        sum(r.social_views) as social_views, sum_counts(r.engaged) as engaged, sum_counts(r.scrolled) as scrolled,
        row_number() over (partition by g.dimension order by sum(r.views) desc, g.value) as rank
    from read r, lateral (
        select case when r.has_article then 'all' else 'none' end as dimension, '' as value
        union select 'author', left(n, 100) from unnest(r.authors) n where n <> ''
        union select 'section', left(r.section, 100) where r.section <> ''
        union select 'tag', left(n, 100) from unnest(r.tags) n where n <> ''
        union select 'age', case when r.days < 1 then '0' when r.days < 2 then '1' when r.days < 7 then '2-6'
          when r.days < 30 then '7-29'
            when r.days < 365 then '30-364' else '365+' end where r.has_article
    ) g group by g.dimension, g.value
)
insert into site_article_days (site_id, dimension, day, value, views, visitors, entries, recirculation, social_views,
  engaged, scrolled)
select @site_id, dimension, @day, value, views, visitors, entries, recirculation, social_views, engaged,
  scrolled from sums where rank <= @max_values::bigint;

-- name: EraseSiteArticles :execrows
delete from site_articles where site_id = @site_id;

-- name: EraseSiteArticleCursor :execrows
delete from site_article_cursors where site_id = @site_id;

-- name: EraseSiteArticleDays :execrows
delete from site_article_days where site_id = @site_id;

-- name: ReportArticleValues :many
select value, sum(views)::bigint as views, sum(visitors)::bigint as visitors, sum(entries)::bigint as entries,
  sum(recirculation)::bigint as recirculation,
    sum(social_views)::bigint as social_views
from site_article_days where site_id = @site_id and dimension = @dimension and day >= @from_day and day < @to_day
group by value order by sum(views) desc, value limit @rows;

-- name: ReportArticleValuesNamed :many
select value, sum(views)::bigint as views from site_article_days
where site_id = @site_id and dimension = @dimension and day >= @from_day and day < @to_day
  and value = any(@values::text[]) group by value;

-- name: ReportArticleEngagement :many
select value, engaged, scrolled from site_article_days
where site_id = @site_id and dimension = @dimension and day >= @from_day and day < @to_day
  and value = any(@values::text[]) and engaged is not null;

-- name: ReportArticlesPublished :many
-- The number of articles published in a range, by author, section or tag.
select w.value::text as value, count(*) as articles from site_articles a,
    lateral (select distinct left(n, 100) as value from unnest(case @dimension::text when 'author' then a.authors
      when 'section' then array[a.section] when 'tag' then a.tags else '{}' end) n) w
where a.site_id = @site_id and a.published_at >= @from_time and a.published_at < @to_time
  and w.value = any(@values::text[]) group by 1;

-- name: ReportArticleDays :many
select day, views, visitors, entries, recirculation, social_views, engaged, scrolled from site_article_days
where site_id = @site_id and dimension = @dimension and value = any(@values::text[]) and day >= @from_day
  and day < @to_day order by day;

-- name: ReportArticlePages :many
-- As ReportPages, of the articles of an author, section or tag.
with listed as (
    select m.page_id, m.views, m.visitors, m.entries, m.recirculation from site_page_months m
    where m.site_id = @site_id and m.month >= @from_month and m.month < @to_month
    union all
    select d.page_id, d.views, d.visitors, d.entries, d.recirculation from site_page_days d
    where d.site_id = @site_id and d.day >= @from_day and d.day < @from_month
    union all
    select d.page_id, d.views, d.visitors, d.entries, d.recirculation from site_page_days d
    where d.site_id = @site_id and d.day >= @to_month and d.day < @to_day
), named as materialized (
    select p.id, p.page from site_articles a join view_pages p on p.site_id = a.site_id and p.page = a.page
    where a.site_id = @site_id and case @dimension::text
        when 'author' then exists (select 1 from unnest(a.authors) n where left(n, 100) = any(@values::text[]))
        when 'section' then left(a.section, 100) = any(@values::text[])
        else exists (select 1 from unnest(a.tags) n where left(n, 100) = any(@values::text[])) end
)
select n.page, sum(l.views::int) as views, sum(l.visitors::int) as visitors, sum(l.entries::int) as entries,
  sum(l.recirculation::int) as recirculation
from listed l join named n on n.id = l.page_id group by n.page order by 2 desc, 1 limit @rows;

-- name: ReportArticles :many
select page, article_id, title, published_at from site_articles where site_id = @site_id and page = any(@pages::text[]);

-- name: ReportPublished :many
-- Articles published in a range with their views in it. Hours that are not rolled
-- up yet are included.
with published as materialized (
    select p.id, a.page from site_articles a join view_pages p on p.site_id = a.site_id and p.page = a.page
    where a.site_id = @site_id and a.published_at >= @from_time and a.published_at < @to_time
    order by p.views desc limit 1000
), counted as (
    select d.page_id, d.kind, d.count from view_days d where d.page_id in (select id from published)
      and d.day >= @from_day and d.day < @to_day
    union all
    select h.page_id, h.kind, h.count - h.rolled_count from view_hours h
    where h.page_id in (select id from published) and h.day >= @from_day and h.day < @to_day
      and h.count <> h.rolled_count
)
select p.page, coalesce(sum(c.count) filter (where c.kind = 'view'), 0)::bigint as views,
  coalesce(sum(c.count) filter (where c.kind = 'entry'), 0)::bigint as entries,
    coalesce(sum(c.count) filter (where c.kind = 'recirculation'), 0)::bigint as recirculation,
    coalesce((select sum(u.uniques) from view_uniques u where u.page_id = p.id and u.day >= @from_day
      and u.day < @to_day), 0)::bigint as visitors
from published p left join counted c on c.page_id = p.id group by p.id, p.page order by 2 desc, 1 limit @rows;

-- name: ReportLast24Hours :many
-- The most read articles of 24 hours, and of those the ones published in them.
-- Candidates are the most viewed pages of the days.
with candidates as materialized (
    select p.id, a.page, a.article_id, a.title, a.authors, a.published_at from site_articles a join view_pages p
      on p.site_id = a.site_id and p.page = a.page
    where a.site_id = @site_id and (a.published_at >= @since or p.id in (
        select d.page_id from site_page_days d where d.site_id = @site_id and d.day >= @from_day))
)
select c.page, c.article_id, c.title, c.authors, c.published_at, sum(h.count)::bigint as views
from candidates c join view_hours h on h.page_id = c.id and h.kind = 'view' and h.hour >= @since and h.hour < @until
group by c.id, c.page, c.article_id, c.title, c.authors, c.published_at order by sum(h.count) desc, c.page;
