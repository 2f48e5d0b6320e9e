-- name: AddSiteEvents :exec
-- A day stores max_values values of a property; further ones are added to other.
with added as (
    select w.site_id, w.day, w.event, w.property, w.value, w.n, d.value is not null or w.value = 'other' as known,
        (select count(*) from site_events o where o.site_id = w.site_id and o.event = w.event
          and o.property = w.property and o.day = w.day) as stored
    from (select unnest(@site_ids::uuid[]) as site_id, unnest(@days::date[]) as day, unnest(@events::text[]) as event,
      unnest(@properties::text[]) as property,
            unnest(@values::text[]) as value, unnest(@counts::bigint[]) as n) w
    left join site_events d on d.site_id = w.site_id and d.event = w.event and d.property = w.property and d.day = w.day
      and d.value = w.value
), ranked as (
    select added.*, row_number() over (partition by site_id, event, property, day, known order by n desc, value) as rank
      from added
)
insert into site_events (site_id, day, event, property, value, count)
select r.site_id, r.day, r.event, r.property, case when r.known or r.stored + r.rank <= @max_values::bigint then r.value
  else 'other' end, sum(r.n)
from ranked r group by 1, 2, 3, 4, 5 order by 1, 3, 4, 2, 5
on conflict (site_id, event, property, day, value) do update set count = site_events.count + excluded.count;

-- name: EraseSiteEvents :execrows
delete from site_events where site_id = @site_id;

-- name: ReportEvents :many
select event, sum(count)::bigint as count from site_events
where site_id = @site_id and property = '' and day >= @from_day and day < @to_day group by event
  order by sum(count) desc, event limit @rows;

-- name: ReportEventDays :many
select day, sum(count)::bigint as count from site_events
where site_id = @site_id and event = any(@events::text[]) and property = '' and day >= @from_day and day < @to_day group by day
  order by day;

-- name: ReportEventProperties :many
select property, value, sum(count)::bigint as count from site_events
where site_id = @site_id and event = any(@events::text[]) and property <> '' and day >= @from_day and day < @to_day
group by property, value order by property, sum(count) desc, value limit @rows;

-- name: ReportGoalPages :one
-- The views of pages whose name is like a pattern, and the number of these pages,
-- up to a limit.
with pages as materialized (
    select p.id from view_pages p where p.site_id = @site_id and (p.page = @pattern::text or p.page like @pattern::text)
      limit @max_pages
), counted as (
    select d.count from view_days d where d.page_id in (select id from pages) and d.kind = 'view' and d.day >= @from_day
      and d.day < @to_day
    union all
    select h.count - h.rolled_count from view_hours h
    where h.page_id in (select id from pages) and h.kind = 'view' and h.day >= @from_day and h.day < @to_day
      and h.count <> h.rolled_count
)
select (select count(*) from pages)::bigint as pages, coalesce((select sum(c.count) from counted c), 0)::bigint
  as views;
