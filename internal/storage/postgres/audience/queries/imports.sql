-- name: FirstSiteDay :one
select coalesce(min(day), '9999-01-01')::date as day from site_days where site_id = @site_id and import_id is null;

-- name: InsertStatsImport :one
-- No row: another import has days in the range.
insert into stats_imports (id, workspace_id, site_id, source, from_day, to_day, views)
select @id, @workspace_id, @site_id, @source, @from_day, @to_day, @views
where not exists (select 1 from stats_imports o where o.site_id = @site_id and o.from_day <= @to_day
  and o.to_day >= @from_day)
returning *;

-- name: StartStatsImport :exec
-- Also deletes those whose process died.
with dead as (delete from stats_imports_running where updated_at < clock_timestamp() - interval '10 minutes')
insert into stats_imports_running (id, workspace_id, site_id, source) values (@id, @workspace_id, @site_id, @source);

-- name: UpdateStatsImport :execrows
-- No row: it was canceled.
update stats_imports_running set done = @done, total = @total, updated_at = clock_timestamp() where id = @id;

-- name: EndStatsImport :execrows
-- No row: it was canceled.
delete from stats_imports_running where id = @id;

-- name: CancelStatsImport :execrows
delete from stats_imports_running where id = @id and site_id = @site_id and workspace_id = @workspace_id;

-- name: RunningStatsImports :many
select * from stats_imports_running where site_id = @site_id and workspace_id = @workspace_id
  and updated_at >= clock_timestamp() - interval '10 minutes' order by started_at, id;

-- name: ListStatsImports :many
select * from stats_imports where site_id = @site_id and workspace_id = @workspace_id order by created_at, id;

-- name: DeleteStatsImport :one
delete from stats_imports where id = @id and site_id = @site_id and workspace_id = @workspace_id returning source;

-- name: EraseSiteImports :execrows
delete from stats_imports where site_id = @site_id;

-- name: InsertImportedDays :exec
insert into site_days (site_id, day, views, clicks, conversions, visits, second_views, engaged_visits, recirculation,
  visitors, without_visits, sketch_due, pages_due, articles_due, import_id)
select @site_id, w.day, w.views, 0, 0, w.visits, w.second_views, w.second_views, 0, w.visitors, w.without_visits, false,
  false, false, @import_id::uuid
from (select unnest(@days::date[]) as day, unnest(@views::bigint[]) as views, unnest(@visitors::bigint[]) as visitors,
  unnest(@visits::bigint[]) as visits, unnest(@second_views::bigint[]) as second_views,
    unnest(@without_visits::boolean[]) as without_visits) w;

-- name: InsertImportedValues :exec
insert into site_dimension_days (site_id, dimension, day, value, views, visits, import_id)
select @site_id, w.dimension, w.day, w.value, w.views, w.visits, @import_id::uuid
from (select unnest(@days::date[]) as day, unnest(@dimensions::text[]) as dimension, unnest(@names::text[]) as value,
  unnest(@views::bigint[]) as views, unnest(@visits::bigint[]) as visits) w;

-- name: AddImportedPages :exec
insert into view_pages (site_id, page, unique_method, sketch_due)
select distinct @site_id::uuid, p, '', false from unnest(@pages::text[]) p order by 2
on conflict (site_id, page) do nothing;

-- name: InsertImportedPageDays :exec
insert into site_page_days (site_id, day, page_id, views, visitors, entries, recirculation, import_id)
select @site_id, w.day, p.id, w.views, w.visitors, w.entries, 0, @import_id::uuid
from (select unnest(@days::date[]) as day, unnest(@pages::text[]) as page, unnest(@views::bigint[]) as views,
  unnest(@visitors::bigint[]) as visitors, unnest(@entries::bigint[]) as entries) w
join view_pages p on p.site_id = @site_id and p.page = w.page;

-- name: InsertImportedPageMonths :exec
insert into site_page_months (site_id, month, page_id, views, visitors, entries, recirculation, import_id)
select d.site_id, date_trunc('month', d.day)::date, d.page_id, sum(d.views), sum(d.visitors), sum(d.entries), 0,
  @import_id::uuid
from site_page_days d where d.site_id = @site_id and d.import_id = @import_id::uuid
group by 1, 2, 3;

-- name: DeleteImportedDays :exec
delete from site_days where site_id = @site_id and import_id = @import_id::uuid;

-- name: DeleteImportedValues :exec
delete from site_dimension_days where site_id = @site_id and import_id = @import_id::uuid;

-- name: DeleteImportedPageDays :exec
delete from site_page_days where site_id = @site_id and import_id = @import_id::uuid;

-- name: DeleteImportedPageMonths :exec
delete from site_page_months where site_id = @site_id and import_id = @import_id::uuid;
