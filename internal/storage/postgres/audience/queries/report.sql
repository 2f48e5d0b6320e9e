-- name: ReportDays :many
select d.day, d.views, d.visitors, d.visits, d.second_views, d.engaged_visits, d.recirculation, d.clicks, d.conversions,
  d.import_id, d.without_visits, e.engaged, e.scrolled
from site_days d left join site_engagement e on e.site_id = d.site_id and e.day = d.day
where d.site_id = @site_id and d.day >= @from_day and d.day < @to_day order by d.day;

-- name: ReportHours :many
select hour, day, views, day_visitors, visits, second_views, engaged_visits, recirculation, clicks, conversions
  from site_hours
where site_id = @site_id and hour >= @from_hour and hour < @to_hour order by hour;

-- name: ReportDimensions :many
select dimension, value, sum(views)::bigint as views, sum(visits)::bigint as visits from site_dimension_days
where site_id = @site_id and dimension = any(@dimensions::text[]) and day >= @from_day and day < @to_day
group by dimension, value order by dimension, visits desc, value;

-- name: ReportValueDays :many
select day, views, visits from site_dimension_days
where site_id = @site_id and dimension = @dimension and value = any(@values::text[])
  and day >= @from_day and day < @to_day order by day;

-- name: ReportPages :many
-- The most viewed pages, and those where most visits started. Completed months are
-- read from their lists, the days before and after them from the lists of days. Hours
-- that are not rolled up yet are added, so that a page is listed from its first view on.
-- Sums of int need no numeric, and the number of one page in a month fits.
with listed as (
    select m.page_id, m.views, m.visitors, m.entries, m.recirculation from site_page_months m
    where m.site_id = @site_id and m.month >= @from_month and m.month < @to_month and m.page_id <> 0
    union all
    select d.page_id, d.views, d.visitors, d.entries, d.recirculation from site_page_days d
    where d.site_id = @site_id and d.page_id <> 0 and d.day >= @from_day and d.day < @from_month
    union all
    select d.page_id, d.views, d.visitors, d.entries, d.recirculation from site_page_days d
    where d.site_id = @site_id and d.page_id <> 0 and d.day >= @to_month and d.day < @to_day
    union all
    select h.page_id, h.views, greatest(coalesce(u.uniques, 0) - coalesce(d.visitors, 0), 0), h.entries, h.recirculation
    from (
        select h.page_id, h.day, coalesce(sum(h.count - h.rolled_count) filter (where h.kind = 'view'), 0) as views,
            coalesce(sum(h.count - h.rolled_count) filter (where h.kind = 'entry'), 0) as entries,
            coalesce(sum(h.count - h.rolled_count) filter (where h.kind = 'recirculation'), 0) as recirculation
        from view_hours_due due join view_hours h on h.hour = due.hour join view_pages p on p.id = h.page_id
        where p.site_id = @site_id and h.day >= @from_day and h.day < @to_day and h.count <> h.rolled_count
          and h.kind in ('view', 'entry', 'recirculation') group by h.page_id, h.day
    ) h left join view_uniques u on u.page_id = h.page_id and u.day = h.day
    left join site_page_days d on d.site_id = @site_id and d.day = h.day and d.page_id = h.page_id
), sums as materialized (
    select page_id, sum(views::int) as views, sum(visitors::int) as visitors, sum(entries::int) as entries,
      sum(recirculation::int) as recirculation
    from listed group by page_id
)
select p.page, s.views, s.visitors, s.entries, s.recirculation from (
    (select * from sums v order by v.views desc, v.page_id limit @rows)
    union
    (select * from sums e order by e.entries desc, e.page_id limit @rows)
) s join view_pages p on p.id = s.page_id;

-- name: ReportNamedPages :many
-- Like ReportPages, for given pages.
with listed as (
    select m.page_id, m.views, m.visitors, m.entries, m.recirculation from site_page_months m
    where m.site_id = @site_id and m.month >= @from_month and m.month < @to_month and m.page_id <> 0
      and m.page_id in (select p.id from view_pages p where p.site_id = @site_id and p.page = any(@pages::text[]))
    union all
    select d.page_id, d.views, d.visitors, d.entries, d.recirculation from site_page_days d
    where d.site_id = @site_id and d.page_id <> 0 and d.day >= @from_day and d.day < @from_month
      and d.page_id in (select p.id from view_pages p where p.site_id = @site_id and p.page = any(@pages::text[]))
    union all
    select d.page_id, d.views, d.visitors, d.entries, d.recirculation from site_page_days d
    where d.site_id = @site_id and d.page_id <> 0 and d.day >= @to_month and d.day < @to_day
      and d.page_id in (select p.id from view_pages p where p.site_id = @site_id and p.page = any(@pages::text[]))
), sums as materialized (
    select page_id, sum(views::int) as views, sum(visitors::int) as visitors, sum(entries::int) as entries,
      sum(recirculation::int) as recirculation
    from listed group by page_id
)
select p.page, s.views, s.visitors, s.entries, s.recirculation from sums s join view_pages p on p.id = s.page_id;

-- name: ReportPageEngagement :many
-- The engagement of pages, from the same days and months as ReportPages. Each page is looked
-- up by the primary keys (offset 0 keeps Postgres from joining whole months of long rows).
with wanted as materialized (select p.id, p.page from view_pages p where p.site_id = @site_id
  and p.page = any(@pages::text[]))
select w.page, m.engaged, m.scrolled from wanted w
cross join (select generate_series(cast(@from_month as date), cast(@to_month as date) - 1, interval '1 month')::date
  as month) g
cross join lateral (select o.engaged, o.scrolled from site_page_months o
    where o.site_id = @site_id and o.month = g.month and o.page_id = w.id and o.engaged is not null offset 0) m
union all
select w.page, e.engaged, e.scrolled from wanted w cross join lateral (select o.engaged, o.scrolled
  from view_engagement o
    where o.page_id = w.id and o.day >= @from_day and o.day < @from_month offset 0) e
union all
select w.page, e.engaged, e.scrolled from wanted w cross join lateral (select o.engaged, o.scrolled
  from view_engagement o
    where o.page_id = w.id and o.day >= @to_month and o.day < @to_day offset 0) e;

-- name: ReportPageIDs :many
select p.id from view_pages p where p.site_id = @site_id and p.page = any(@pages::text[]) limit @max_pages;

-- name: ReportArticlePageIDs :many
-- The pages of articles that have one of the authors, one of the sections and one of the
-- tags; an empty list does not restrict.
select p.id from site_articles a join view_pages p on p.site_id = a.site_id and p.page = a.page
where a.site_id = @site_id
  and (cardinality(@pages::text[]) = 0 or a.page = any(@pages::text[]))
  and (cardinality(@authors::text[]) = 0
    or exists (select 1 from unnest(a.authors) n where left(n, 100) = any(@authors::text[])))
  and (cardinality(@sections::text[]) = 0 or left(a.section, 100) = any(@sections::text[]))
  and (cardinality(@tags::text[]) = 0
    or exists (select 1 from unnest(a.tags) n where left(n, 100) = any(@tags::text[])))
limit @max_pages;

-- name: ReportPagesDays :many
-- The days of pages, including hours that are not rolled up yet.
with counted as (
    select d.day, d.kind, d.count from view_days d where d.page_id = any(@page_ids::bigint[]) and d.day >= @from_day
      and d.day < @to_day
    union all
    select h.day, h.kind, h.count - h.rolled_count from view_hours h
    where h.page_id = any(@page_ids::bigint[]) and h.day >= @from_day and h.day < @to_day and h.count <> h.rolled_count
    union all
    select i.day, 'view', i.views from site_page_days i
    where i.site_id = @site_id and i.page_id = any(@page_ids::bigint[]) and i.day >= @from_day and i.day < @to_day
      and i.import_id is not null
), visited as (
    select p.day, sum(p.visitors) as visitors from (
        select i.day, i.visitors from site_page_days i
        where i.site_id = @site_id and i.page_id = any(@page_ids::bigint[]) and i.day >= @from_day and i.day < @to_day
          and i.import_id is not null
          and not exists (select from view_uniques u where u.page_id = i.page_id and u.day = i.day)
        union all
        select u.day, u.uniques from view_uniques u
        where u.page_id = any(@page_ids::bigint[]) and u.day >= @from_day and u.day < @to_day
    ) p group by p.day
), engaged as (
    select e.day, sum_counts(e.engaged) as engaged, sum_counts(e.scrolled) as scrolled from view_engagement e
    where e.page_id = any(@page_ids::bigint[]) and e.day >= @from_day and e.day < @to_day group by e.day
)
select c.day, coalesce(sum(c.count) filter (where c.kind = 'view'), 0)::bigint as views,
    coalesce(sum(c.count) filter (where c.kind = 'entry'), 0)::bigint as entries,
    coalesce(sum(c.count) filter (where c.kind = 'recirculation'), 0)::bigint as recirculation,
    coalesce(sum(c.count) filter (where c.kind = 'click'), 0)::bigint as clicks,
      coalesce(sum(c.count) filter (where c.kind = 'conversion'), 0)::bigint as conversions,
    coalesce((select v.visitors from visited v where v.day = c.day), 0)::bigint as visitors,
    exists (select from site_days s where s.site_id = @site_id and s.day = c.day and s.import_id is not null)
      as imported,
    (select e.engaged from engaged e where e.day = c.day)::bigint[] as engaged,
    (select e.scrolled from engaged e where e.day = c.day)::bigint[] as scrolled
from counted c group by c.day order by c.day;

-- name: ReportPagesTable :many
-- As ReportPagesDays, by page.
with counted as (
    select d.page_id, d.kind, d.count from view_days d where d.page_id = any(@page_ids::bigint[])
      and d.day >= @from_day and d.day < @to_day
    union all
    select h.page_id, h.kind, h.count - h.rolled_count from view_hours h
    where h.page_id = any(@page_ids::bigint[]) and h.day >= @from_day and h.day < @to_day and h.count <> h.rolled_count
    union all
    select i.page_id, 'view', i.views from site_page_days i
    where i.page_id = any(@page_ids::bigint[]) and i.day >= @from_day and i.day < @to_day and i.import_id is not null
      and i.site_id = @site_id
), sums as materialized (
    select c.page_id, coalesce(sum(c.count) filter (where c.kind = 'view'), 0)::bigint as views,
        coalesce(sum(c.count) filter (where c.kind = 'entry'), 0)::bigint as entries,
        coalesce(sum(c.count) filter (where c.kind = 'recirculation'), 0)::bigint as recirculation
    from counted c group by c.page_id order by 2 desc, 1 limit @rows
)
select p.page, s.views, coalesce((select sum(u.uniques) from view_uniques u where u.page_id = s.page_id
    and u.day >= @from_day and u.day < @to_day), 0)::bigint as visitors, s.entries, s.recirculation
from sums s join view_pages p on p.id = s.page_id where s.views > 0 order by s.views desc, p.page;

-- name: ReportPagesValueDays :many
select d.day, d.value, sum(d.count)::bigint as views from view_dimensions d
where d.page_id = any(@page_ids::bigint[]) and d.dimension = @dimension and d.value = any(@values::text[])
  and d.day >= @from_day and d.day < @to_day
group by d.day, d.value order by d.day, d.value;

-- name: ReportPagesValueTable :many
select p.page, s.views from (
    select d.page_id, sum(d.count)::bigint as views from view_dimensions d
    where d.page_id = any(@page_ids::bigint[]) and d.dimension = @dimension and d.value = any(@values::text[])
      and d.day >= @from_day and d.day < @to_day
    group by d.page_id order by 2 desc, 1 limit @rows
) s join view_pages p on p.id = s.page_id order by s.views desc, p.page;

-- name: ReportPagesDimensions :many
select d.dimension, d.value, sum(d.count)::bigint as views from view_dimensions d
where d.page_id = any(@page_ids::bigint[]) and d.day >= @from_day and d.day < @to_day
group by d.dimension, d.value order by d.dimension, views desc, d.value;

-- name: ReportUpdatedAt :one
select coalesce(max(applied_at), 'epoch')::timestamptz from view_batches;
