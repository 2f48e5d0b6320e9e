-- name: AddViewEngagement :exec
-- engaged and scrolled contain the arrays of all rows, one after the other.
insert into view_engagement (page_id, day, engaged, scrolled)
select p.id, w.day, (@engaged::bigint[])[24 * w.i - 23 : 24 * w.i], (@scrolled::bigint[])[4 * w.i - 3 : 4 * w.i]
from (select unnest(@site_ids::uuid[]) as site_id, unnest(@pages::text[]) as page, unnest(@days::date[]) as day,
        generate_series(1, cardinality(@days::date[])) as i) w
join view_pages p on p.site_id = w.site_id and p.page = w.page order by 1, 2
on conflict (page_id, day) do update set engaged = add_counts(view_engagement.engaged, excluded.engaged),
    scrolled = add_counts(view_engagement.scrolled, excluded.scrolled);

-- name: AddSiteEngagement :exec
insert into site_engagement (site_id, day, engaged, scrolled)
select w.site_id, w.day, (@engaged::bigint[])[24 * w.i - 23 : 24 * w.i], (@scrolled::bigint[])[4 * w.i - 3 : 4 * w.i]
from (select unnest(@site_ids::uuid[]) as site_id, unnest(@days::date[]) as day,
  generate_series(1, cardinality(@days::date[])) as i) w
order by 1, 2
on conflict (site_id, day) do update set engaged = add_counts(site_engagement.engaged, excluded.engaged),
    scrolled = add_counts(site_engagement.scrolled, excluded.scrolled);

-- name: AddLinkEngagement :exec
-- Codes that are not of a link of the site's workspace are skipped: anyone can send them.
insert into link_engagement (site_id, code, day, engaged, scrolled)
select w.site_id, w.code, w.day, (@engaged::bigint[])[24 * w.i - 23 : 24 * w.i],
  (@scrolled::bigint[])[4 * w.i - 3 : 4 * w.i]
from (select unnest(@site_ids::uuid[]) as site_id, unnest(@codes::text[]) as code, unnest(@days::date[]) as day,
        generate_series(1, cardinality(@days::date[])) as i) w
join sites s on s.id = w.site_id join links l on l.code = w.code and l.workspace_id = s.workspace_id order by 2, 1, 3
on conflict (code, site_id, day) do update set engaged = add_counts(link_engagement.engaged, excluded.engaged),
    scrolled = add_counts(link_engagement.scrolled, excluded.scrolled);

-- name: PageEngagement :many
select e.day, e.engaged, e.scrolled from view_engagement e join view_pages p on p.id = e.page_id
where p.site_id = @site_id and p.page = @page and e.day >= @from_day and e.day < @to_day order by e.day;

-- name: SiteEngagement :many
select day, engaged, scrolled from site_engagement where site_id = @site_id and day >= @from_day and day < @to_day
  order by day;

-- name: EraseViewEngagement :execrows
delete from view_engagement where page_id in (select id from view_pages where site_id = @site_id);

-- name: EraseLinkEngagement :execrows
delete from link_engagement where site_id = @site_id;

-- name: EraseSiteEngagement :execrows
delete from site_engagement where site_id = @site_id;
