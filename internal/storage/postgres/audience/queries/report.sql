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
where site_id = @site_id and dimension = @dimension and value = @value and day >= @from_day and day < @to_day
  order by day;

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

-- name: ReportPageDays :many
-- A page's days, including hours that are not rolled up yet.
with page as (select p.id from view_pages p where p.site_id = @site_id and p.page = @page),
counted as (
    select d.day, d.kind, d.count from view_days d where d.page_id = (select id from page) and d.day >= @from_day
      and d.day < @to_day
    union all
    select h.day, h.kind, h.count - h.rolled_count from view_hours h
    where h.page_id = (select id from page) and h.day >= @from_day and h.day < @to_day and h.count <> h.rolled_count
    union all
    select i.day, 'view', i.views from site_page_days i
    where i.site_id = @site_id and i.page_id = (select id from page) and i.day >= @from_day and i.day < @to_day
      and i.import_id is not null
)
select c.day, coalesce(sum(c.count) filter (where c.kind = 'view'), 0)::bigint as views,
    coalesce(sum(c.count) filter (where c.kind = 'recirculation'), 0)::bigint as recirculation,
    coalesce(sum(c.count) filter (where c.kind = 'click'), 0)::bigint as clicks,
      coalesce(sum(c.count) filter (where c.kind = 'conversion'), 0)::bigint as conversions,
    coalesce((select u.uniques from view_uniques u where u.page_id = (select id from page) and u.day = c.day),
        (select i.visitors from site_page_days i where i.site_id = @site_id and i.page_id = (select id from page)
          and i.day = c.day and i.import_id is not null), 0)::bigint as visitors,
    exists (select from site_days s where s.site_id = @site_id and s.day = c.day and s.import_id is not null)
      as imported
from counted c group by c.day order by c.day;

-- name: ReportPageDimensions :many
select d.dimension, d.value, sum(d.count)::bigint as views from view_dimensions d
where d.page_id = (select p.id from view_pages p where p.site_id = @site_id and p.page = @page) and d.day >= @from_day
  and d.day < @to_day
group by d.dimension, d.value order by d.dimension, views desc, d.value;

-- name: ReportUpdatedAt :one
select coalesce(max(applied_at), 'epoch')::timestamptz from view_batches;
