-- name: InsertViewBatch :execrows
-- The ledger. No row: the batch was already applied.
insert into view_batches (id, shard, counts, skipped_records) values (@id, @shard, @counts, @skipped_records)
  on conflict (id) do nothing;

-- name: SkippedViewRecords :one
select skipped_records from view_batches where id = @id;

-- name: DeleteExpiredViewBatches :execrows
-- Never a batch that Redis still has: it would be applied again.
delete from view_batches where applied_at < now() - make_interval(secs => @older_than_seconds::float8)
  and not id = any(@pending::uuid[]);

-- name: AddViewPages :many
-- Rows are locked in a fixed order to avoid deadlocks between batches. The larger
-- number of uniques is correct: after a loss of Redis, or in a late batch, the
-- number is too low.
insert into view_pages (site_id, page, unique_method, views, clicks, conversions, funnel_views, funnel_clicks,
  funnel_conversions, uniques)
select w.site_id, w.page, max(w.unique_method), sum(w.views), sum(w.clicks), sum(w.conversions), sum(w.funnel_views),
  sum(w.funnel_clicks), sum(w.funnel_conversions), max(w.uniques)
from (select unnest(@site_ids::uuid[]) as site_id, unnest(@pages::text[]) as page, unnest(@unique_methods::text[])
  as unique_method,
        unnest(@views::bigint[]) as views, unnest(@clicks::bigint[]) as clicks, unnest(@conversions::bigint[])
          as conversions,
        unnest(@funnel_views::bigint[]) as funnel_views, unnest(@funnel_clicks::bigint[]) as funnel_clicks,
        unnest(@funnel_conversions::bigint[]) as funnel_conversions, unnest(@uniques::bigint[]) as uniques) w
group by 1, 2 order by 1, 2
on conflict (site_id, page) do update set
    unique_method = coalesce(nullif(excluded.unique_method, ''), view_pages.unique_method),
      views = view_pages.views + excluded.views, clicks = view_pages.clicks + excluded.clicks,
    conversions = view_pages.conversions + excluded.conversions,
      funnel_views = view_pages.funnel_views + excluded.funnel_views,
    funnel_clicks = view_pages.funnel_clicks + excluded.funnel_clicks,
      funnel_conversions = view_pages.funnel_conversions + excluded.funnel_conversions,
    uniques = greatest(view_pages.uniques, excluded.uniques), sketch_due = true, updated_at = now()
returning id, site_id, page;

-- name: AddViewHours :exec
insert into view_hours (page_id, kind, hour, day, count, funnel)
select w.page_id, w.kind::view_kind, w.hour, min(w.day), sum(w.n), sum(w.f)
from (select unnest(@page_ids::bigint[]) as page_id, unnest(@kinds::text[]) as kind,
        unnest(@hours::timestamptz[]) as hour, unnest(@days::date[]) as day, unnest(@counts::bigint[]) as n,
          unnest(@funnels::bigint[]) as f) w
group by 1, 2, 3 order by 1, 2, 3
on conflict (page_id, kind, hour) do update set count = view_hours.count + excluded.count,
  funnel = view_hours.funnel + excluded.funnel;

-- name: MarkViewHours :exec
-- Locks the marker of an hour, so that a roll-up, which deletes it, runs either
-- before or after this batch.
insert into view_hours_due (hour) select distinct w.hour from unnest(@hours::timestamptz[]) w(hour) order by w.hour
on conflict (hour) do update set touched_at = now();

-- name: AddViewDimensions :exec
insert into view_dimensions (page_id, day, dimension, value, count)
select w.page_id, w.day, w.dimension, w.value, sum(w.n)
from (select unnest(@page_ids::bigint[]) as page_id, unnest(@days::date[]) as day,
        unnest(@dimensions::text[]) as dimension, unnest(@values::text[]) as value, unnest(@counts::bigint[]) as n) w
group by 1, 2, 3, 4 order by 1, 2, 3, 4
on conflict (page_id, day, dimension, value) do update set count = view_dimensions.count + excluded.count;

-- name: AddViewFiltered :exec
insert into view_filtered (page_id, day, reason, count)
select w.page_id, w.day, w.reason, sum(w.n)
from (select unnest(@page_ids::bigint[]) as page_id, unnest(@days::date[]) as day,
        unnest(@reasons::text[]) as reason, unnest(@counts::bigint[]) as n) w
group by 1, 2, 3 order by 1, 2, 3
on conflict (page_id, day, reason) do update set count = view_filtered.count + excluded.count;

-- name: SaveViewUniques :exec
insert into view_uniques (page_id, day, uniques, week)
select w.page_id, w.day, max(w.n), max(w.week)
from (select unnest(@page_ids::bigint[]) as page_id, unnest(@days::date[]) as day,
        unnest(@uniques::bigint[]) as n, unnest(@weeks::bigint[]) as week) w
group by 1, 2 order by 1, 2
on conflict (page_id, day) do update set uniques = greatest(view_uniques.uniques, excluded.uniques),
    week = greatest(view_uniques.week, excluded.week), updated_at = now();

-- name: AddSiteDays :exec
-- The rows' locks are held until the batch is committed, so that batches of a site
-- write the tables below one after the other.
insert into site_days (site_id, day, views, clicks, conversions, visits, second_views, engaged_visits, recirculation)
select w.site_id, w.day, w.views, w.clicks, w.conversions, w.visits, w.second_views, w.engaged_visits, w.recirculation
from (select unnest(@site_ids::uuid[]) as site_id, unnest(@days::date[]) as day, unnest(@views::bigint[]) as views,
  unnest(@clicks::bigint[]) as clicks,
        unnest(@conversions::bigint[]) as conversions, unnest(@visits::bigint[]) as visits,
          unnest(@second_views::bigint[]) as second_views,
        unnest(@engaged_visits::bigint[]) as engaged_visits, unnest(@recirculation::bigint[]) as recirculation) w
order by 1, 2
on conflict (site_id, day) do update set
    views = site_days.views + excluded.views, clicks = site_days.clicks + excluded.clicks,
      conversions = site_days.conversions + excluded.conversions,
    visits = site_days.visits + excluded.visits, second_views = site_days.second_views + excluded.second_views,
    engaged_visits = site_days.engaged_visits + excluded.engaged_visits,
    recirculation = site_days.recirculation + excluded.recirculation, sketch_due = true, articles_due = true;

-- name: AddSiteHours :exec
insert into site_hours (site_id, hour, day, views, clicks, conversions, visits, second_views, engaged_visits,
  recirculation)
select w.site_id, w.hour, w.day, w.views, w.clicks, w.conversions, w.visits, w.second_views, w.engaged_visits,
  w.recirculation
from (select unnest(@site_ids::uuid[]) as site_id, unnest(@hours::timestamptz[]) as hour, unnest(@days::date[]) as day,
  unnest(@views::bigint[]) as views,
        unnest(@clicks::bigint[]) as clicks, unnest(@conversions::bigint[]) as conversions, unnest(@visits::bigint[])
          as visits,
        unnest(@second_views::bigint[]) as second_views, unnest(@engaged_visits::bigint[]) as engaged_visits,
          unnest(@recirculation::bigint[]) as recirculation) w
order by 1, 2
on conflict (site_id, hour) do update set
    views = site_hours.views + excluded.views, clicks = site_hours.clicks + excluded.clicks,
      conversions = site_hours.conversions + excluded.conversions,
    visits = site_hours.visits + excluded.visits, second_views = site_hours.second_views + excluded.second_views,
    engaged_visits = site_hours.engaged_visits + excluded.engaged_visits,
    recirculation = site_hours.recirculation + excluded.recirculation;

-- name: AddSiteDimensions :exec
-- A day stores max_values values of a dimension, of links max_links; further ones
-- are added to other.
with added as (
    select w.site_id, w.dimension, w.day, w.value, w.views, w.visits,
        d.value is not null or w.value = 'other' as known,
        (select count(*) from site_dimension_days o where o.site_id = w.site_id and o.dimension = w.dimension
          and o.day = w.day) as stored
    from (select unnest(@site_ids::uuid[]) as site_id, unnest(@dimensions::text[]) as dimension, unnest(@days::date[])
      as day, unnest(@values::text[]) as value,
            unnest(@views::bigint[]) as views, unnest(@visits::bigint[]) as visits) w
    left join site_dimension_days d on d.site_id = w.site_id and d.dimension = w.dimension and d.day = w.day
      and d.value = w.value
), ranked as (
    select added.*, row_number() over (partition by site_id, dimension, day, known order by visits desc, views desc,
      value) as rank from added
)
insert into site_dimension_days (site_id, dimension, day, value, views, visits)
select r.site_id, r.dimension, r.day, case when r.known or r.stored + r.rank <= case when r.dimension = 'link'
  then @max_links::bigint else @max_values::bigint end then r.value else 'other' end, sum(r.views), sum(r.visits)
from ranked r group by 1, 2, 3, 4 order by 1, 2, 3, 4
on conflict (site_id, dimension, day, value) do update set views = site_dimension_days.views + excluded.views,
  visits = site_dimension_days.visits + excluded.visits;

-- name: SiteSketchesDue :many
select site_id, day, sketch from site_days where sketch_due order by site_id, day limit @batch;

-- name: SaveSiteSketch :exec
-- Also stores the day's visitors up to its latest hour, so that an unfinished day can
-- be compared with the same hours of another.
with saved as (
    update site_days d set sketch = @sketch, visitors = @visitors, sketch_due = false where d.site_id = @site_id
      and d.day = @day
)
update site_hours h set day_visitors = @visitors
where h.site_id = @site_id and h.hour = (select max(l.hour) from site_hours l where l.site_id = @site_id
  and l.day = @day);

-- name: SitePagesDue :many
select site_id, day from site_days where pages_due order by site_id, day limit @batch;

-- name: MarkSitePages :exec
update site_days set pages_due = false where site_id = @site_id and day = @day;

-- name: DeleteSitePageDay :exec
delete from site_page_days where site_id = @site_id and day = @day;

-- name: InsertSitePageDay :exec
-- The most viewed pages, and the sum of all others as page 0.
with pages as materialized (
    select v.page_id, coalesce(sum(v.count) filter (where v.kind = 'view'), 0) as views,
        coalesce(sum(v.count) filter (where v.kind = 'entry'), 0) as entries,
          coalesce(sum(v.count) filter (where v.kind = 'recirculation'), 0) as recirculation
    from view_days v join view_pages p on p.id = v.page_id
    where p.site_id = @site_id and v.day = @day and v.kind in ('view', 'entry', 'recirculation') group by v.page_id
), ranked as (
    select pages.*, row_number() over (order by views desc, entries desc, page_id) as rank from pages
)
insert into site_page_days (site_id, day, page_id, views, visitors, entries, recirculation)
select @site_id, @day, case when r.rank <= @max_pages::bigint then r.page_id else 0 end, sum(r.views),
  coalesce(sum(u.uniques), 0), sum(r.entries), sum(r.recirculation)
from ranked r left join view_uniques u on u.page_id = r.page_id and u.day = @day and r.rank <= @max_pages::bigint
group by 1, 2, 3;

-- name: SitePageMonthsDue :many
-- Completed months: reports read the current one by day.
select site_id, month from site_page_months_due where month < @before order by site_id, month limit @batch;

-- name: DeleteDueSitePageMonth :exec
delete from site_page_months_due where site_id = @site_id and month = @month;

-- name: DeleteSitePageMonth :exec
delete from site_page_months where site_id = @site_id and month = @month
  and import_id = '00000000-0000-0000-0000-000000000000';

-- name: InsertSitePageMonth :exec
-- Like InsertSitePageDay.
with pages as materialized (
    select v.page_id, coalesce(sum(v.count) filter (where v.kind = 'view'), 0) as views,
        coalesce(sum(v.count) filter (where v.kind = 'entry'), 0) as entries,
          coalesce(sum(v.count) filter (where v.kind = 'recirculation'), 0) as recirculation
    from view_months v join view_pages p on p.id = v.page_id
    where p.site_id = @site_id and v.month = @month and v.kind in ('view', 'entry', 'recirculation') group by v.page_id
), ranked as (
    select pages.*, row_number() over (order by views desc, entries desc, page_id) as rank from pages
)
insert into site_page_months (site_id, month, page_id, views, visitors, entries, recirculation, engaged, scrolled)
select @site_id, @month, case when r.rank <= @max_pages::bigint then r.page_id else 0 end, sum(r.views),
  coalesce(sum(u.uniques), 0), sum(r.entries), sum(r.recirculation),
    sum_counts(e.engaged), sum_counts(e.scrolled)
from ranked r left join lateral (
    select sum(v.uniques) as uniques from view_uniques v
    where v.page_id = r.page_id and v.day >= @month and v.day < @next_month::date
) u on r.rank <= @max_pages::bigint
left join lateral (
    select sum_counts(v.engaged) as engaged, sum_counts(v.scrolled) as scrolled from view_engagement v
    where v.page_id = r.page_id and v.day >= @month and v.day < @next_month::date
) e on r.rank <= @max_pages::bigint
group by 1, 2, 3;

-- name: ViewPages :many
select site_id, page, views, clicks, conversions from view_pages where site_id = @site_id
  and page = any(@pages::text[]);

-- name: ViewTotals :many
-- Totals of pages of several sites.
select p.site_id, p.page, p.views, p.clicks, p.conversions
from (select unnest(@site_ids::uuid[]) as site_id, unnest(@pages::text[]) as page) w
join view_pages p on p.site_id = w.site_id and p.page = w.page;

-- name: ViewPageTotals :many
-- Reads all pages in chunks.
select id, site_id, page, unique_method, views, clicks, conversions, funnel_views, funnel_clicks, funnel_conversions,
  uniques, sketch from view_pages
where (site_id, page) > (@after_site::uuid, @after_page::text) order by site_id, page limit @batch;

-- name: ViewPageIDs :many
select site_id, page, unique_method from view_pages
where (site_id, page) > (@after_site::uuid, @after_page::text) order by site_id, page limit @batch;

-- name: ViewSitePages :many
select page from view_pages where site_id = @site_id and page > @after_page::text order by page limit @batch;

-- name: ViewSketchesDue :many
select site_id, page from view_pages where sketch_due and (site_id, page) > (@after_site::uuid, @after_page::text)
order by site_id, page limit @batch;

-- name: SaveViewSketches :exec
-- A page that was updated after its sketch was read is due again with its next
-- visitor.
update view_pages p set sketch = nullif(w.sketch, ''), sketch_due = false
from (select unnest(@site_ids::uuid[]) as site_id, unnest(@pages::text[]) as page, unnest(@sketches::bytea[])
  as sketch) w
where p.site_id = w.site_id and p.page = w.page;

-- name: RecentViewHours :many
-- For seeding, pages of several sites.
select h.page_id, h.kind, h.hour, h.day, h.count from view_hours h
where h.page_id = any(@page_ids::bigint[]) and h.hour >= @from_hour and h.count > 0 and h.kind in ('view', 'click',
  'conversion');

-- name: RecentViewDays :many
-- Including the part of the hours that is not rolled up yet.
select page_id, kind, day, sum(count)::bigint as count from (
    select d.page_id, d.kind, d.day, d.count from view_days d where d.page_id = any(@page_ids::bigint[])
      and d.day >= @from_day
    union all
    select h.page_id, h.kind, h.day, h.count - h.rolled_count from view_hours h
    where h.page_id = any(@page_ids::bigint[]) and h.day >= @from_day and h.count <> h.rolled_count
) both_of where kind in ('view', 'click', 'conversion') group by page_id, kind, day having sum(count) > 0;

-- name: ViewHours :many
select kind, hour, count, funnel from view_hours
where page_id = (select p.id from view_pages p where p.site_id = @site_id and p.page = @page) and hour >= @from_hour
  and hour < @to_hour and kind in ('view', 'click', 'conversion') order by hour, kind;

-- name: ViewDays :many
-- Including the part of the hours that is not rolled up yet.
select kind, day, sum(count)::bigint as count, sum(funnel)::bigint as funnel from (
    select d.kind, d.day, d.count, d.funnel from view_days d
    where d.page_id = (select p.id from view_pages p where p.site_id = @site_id and p.page = @page)
      and d.day >= @from_day and d.day < @to_day
    union all
    select h.kind, h.day, h.count - h.rolled_count, h.funnel - h.rolled_funnel from view_hours h
    where h.page_id = (select p.id from view_pages p where p.site_id = @site_id and p.page = @page)
      and (h.count <> h.rolled_count or h.funnel <> h.rolled_funnel)
      and h.day >= @from_day and h.day < @to_day
) both_of where kind in ('view', 'click', 'conversion') group by kind, day order by day, kind;

-- name: ViewMonths :many
-- Including the parts of the days and hours that are not rolled up yet.
select kind, month, sum(count)::bigint as count, sum(funnel)::bigint as funnel from (
    select m.kind, m.month, m.count, m.funnel from view_months m
    where m.page_id = (select p.id from view_pages p where p.site_id = @site_id and p.page = @page)
      and m.month >= @from_month and m.month < @to_month
    union all
    select d.kind, date_trunc('month', d.day)::date, d.count - d.rolled_count, d.funnel - d.rolled_funnel
      from view_days d
    where d.page_id = (select p.id from view_pages p where p.site_id = @site_id and p.page = @page)
      and (d.count <> d.rolled_count or d.funnel <> d.rolled_funnel)
      and d.day >= @from_month and d.day < @to_month
    union all
    select h.kind, date_trunc('month', h.day)::date, h.count - h.rolled_count, h.funnel - h.rolled_funnel
      from view_hours h
    where h.page_id = (select p.id from view_pages p where p.site_id = @site_id and p.page = @page)
      and (h.count <> h.rolled_count or h.funnel <> h.rolled_funnel)
      and h.day >= @from_month and h.day < @to_month
) all_of where kind in ('view', 'click', 'conversion') group by kind, month order by month, kind;

-- name: ViewFilteredCounts :many
-- All filtered hits of a page, and which of the batches they include. One
-- statement reads both from one snapshot.
select reason, sum(count)::bigint as count, '00000000-0000-0000-0000-000000000000'::uuid as batch from view_filtered
where page_id = (select p.id from view_pages p where p.site_id = @site_id and p.page = @page) group by reason
union all select ''::text, 0::bigint, id from view_batches where id = any(@batches::uuid[]);

-- name: ViewHoursDue :many
select hour from view_hours_due order by hour limit @batch;

-- name: DeleteDueViewHour :execrows
delete from view_hours_due where hour = @hour;

-- name: RollUpViewHour :exec
-- Adds the part of an hour that is not rolled up yet to the days. Rows locked by a
-- flush are skipped: the flush marks their hour as due again.
with due as materialized (
    select h.page_id, h.kind, h.day, h.count - h.rolled_count as n, h.funnel - h.rolled_funnel as f from view_hours h
    where h.hour = @hour::timestamptz and (h.count <> h.rolled_count or h.funnel <> h.rolled_funnel)
    for update skip locked
), noted as (
    update view_hours h set rolled_count = h.rolled_count + due.n, rolled_funnel = h.rolled_funnel + due.f from due
    where h.hour = @hour::timestamptz and h.page_id = due.page_id and h.kind = due.kind
), added as (
    insert into view_days (page_id, kind, day, count, funnel)
    select due.page_id, due.kind, due.day, due.n, due.f from due order by 1, 2, 3
    on conflict (page_id, kind, day) do update set count = view_days.count + excluded.count,
      funnel = view_days.funnel + excluded.funnel
    returning page_id, day
), noted_site as (
    update site_days s set pages_due = true, articles_due = true
    from (select distinct p.site_id, added.day from added join view_pages p on p.id = added.page_id) w
    where s.site_id = w.site_id and s.day = w.day
)
insert into view_days_due (day) select distinct day from added order by day
on conflict (day) do update set touched_at = now();

-- name: ViewDaysOfHour :many
-- The days of an hour, which depend on the sites' time zones.
select distinct day from view_hours where hour = @hour::timestamptz
  and (count <> rolled_count or funnel <> rolled_funnel);

-- name: ViewDaysDue :many
select day from view_days_due order by day limit @batch;

-- name: DeleteDueViewDay :execrows
delete from view_days_due where day = @day;

-- name: RollUpViewDay :exec
-- Like RollUpViewHour, from days to months.
with due as materialized (
    select d.page_id, d.kind, d.count - d.rolled_count as n, d.funnel - d.rolled_funnel as f from view_days d
    where d.day = @day::date and (d.count <> d.rolled_count or d.funnel <> d.rolled_funnel)
    for update skip locked
), noted as (
    update view_days d set rolled_count = d.rolled_count + due.n, rolled_funnel = d.rolled_funnel + due.f from due
    where d.day = @day::date and d.page_id = due.page_id and d.kind = due.kind
), noted_site as (
    insert into site_page_months_due (site_id, month)
    select distinct p.site_id, date_trunc('month', @day::date)::date from due join view_pages p on p.id = due.page_id
      order by 1
    on conflict (site_id, month) do nothing
)
insert into view_months (page_id, kind, month, count, funnel)
select due.page_id, due.kind, date_trunc('month', @day::date)::date, due.n, due.f from due
order by 1, 2
on conflict (page_id, kind, month) do update set count = view_months.count + excluded.count,
  funnel = view_months.funnel + excluded.funnel;

-- name: InsertViewLoss :exec
insert into view_losses (shard, pages) values (@shard, @pages);

-- name: InsertViewCheck :exec
insert into view_checks (started_at, ended_at, pages, differing, missing, surplus, next_site, next_page, examples)
values (@started_at, clock_timestamp(), @pages, @differing, @missing, @surplus, sqlc.narg('next_site'),
  sqlc.narg('next_page'), @examples);

-- name: DeleteExpiredViewRecords :exec
with losses as (delete from view_losses where found_at < now() - interval '90 days')
delete from view_checks where started_at < now() - interval '90 days';

-- name: LastViewCheck :one
select * from view_checks order by id desc limit 1;

-- name: LastViewLoss :one
select coalesce(max(found_at), 'epoch')::timestamptz as found_at, coalesce(sum(pages), 0)::bigint as pages,
  count(*) as shards from view_losses
where found_at > (select max(found_at) from view_losses) - interval '10 minutes';

-- name: LastViewFlush :one
select coalesce(max(applied_at), 'epoch')::timestamptz as at, count(*) as batches, coalesce(sum(counts), 0)::bigint
  as counts
from view_batches where applied_at > now() - interval '1 hour';

-- name: InsertViewErasure :one
insert into view_erasures (id, workspace_id, site_id, single_visitor, visitor_hash, visitor_id, requested_by)
values (@id, @workspace_id, @site_id, @single_visitor, sqlc.narg('visitor_hash'), sqlc.narg('visitor_id'),
  @requested_by)
returning *;

-- name: PendingViewErasures :many
select * from view_erasures where done_at is null order by requested_at, id limit @batch;

-- name: CompleteViewErasure :exec
update view_erasures set done_at = clock_timestamp(), visitor_hash = null, visitor_id = null, removed = @removed
  where id = @id;

-- name: ViewErasure :one
select * from view_erasures where id = @id and workspace_id = @workspace_id;

-- name: EraseViewPages :execrows
delete from view_pages where site_id = @site_id;

-- name: EraseViewHours :execrows
delete from view_hours where page_id in (select p.id from view_pages p where p.site_id = @site_id);

-- name: EraseViewDays :execrows
delete from view_days where page_id in (select p.id from view_pages p where p.site_id = @site_id);

-- name: EraseViewMonths :execrows
delete from view_months where page_id in (select p.id from view_pages p where p.site_id = @site_id);

-- name: EraseViewDimensions :execrows
delete from view_dimensions where page_id in (select p.id from view_pages p where p.site_id = @site_id);

-- name: EraseViewFiltered :execrows
delete from view_filtered where page_id in (select p.id from view_pages p where p.site_id = @site_id);

-- name: EraseViewUniques :execrows
delete from view_uniques where page_id in (select p.id from view_pages p where p.site_id = @site_id);

-- name: EraseSiteHours :execrows
delete from site_hours where site_id = @site_id;

-- name: EraseSiteDays :execrows
delete from site_days where site_id = @site_id;

-- name: EraseSiteDimensionDays :execrows
delete from site_dimension_days where site_id = @site_id;

-- name: EraseSitePageDays :execrows
delete from site_page_days where site_id = @site_id;

-- name: EraseSitePageMonths :execrows
delete from site_page_months where site_id = @site_id;

-- name: EraseSitePageMonthsDue :execrows
delete from site_page_months_due where site_id = @site_id;
