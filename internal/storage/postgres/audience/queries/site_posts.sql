-- name: ReportPosts :many
-- Clicks on the short links of posts that lead to a site, by UTC, and the visits
-- of the site that started with them, by post, account or network; and the engagement
-- of the views that they opened.
with targets as materialized (
    select l.code, l.post_id, l.account_id, l.network from links l join sites s on s.id = @site_id
      and s.workspace_id = l.workspace_id
    where l.post_id is not null and exists (select 1 from unnest(s.domains) h(host),
      lower(substring(l.url from '^https?://([^/:?#]+)')) u(host)
        where u.host = h.host or right(u.host, length(h.host) + 1) = '.' || h.host)
), clicks as (
    select t.code, sum(w.count) as clicks from targets t join sites s on s.id = @site_id
    join view_pages p on p.site_id = s.workspace_id and p.page = 'link/' || t.code,
    lateral (
        select d.count from view_days d where d.page_id = p.id and d.kind = 'click' and d.day >= @from_day
          and d.day < @to_day
        union all
        select h.count - h.rolled_count from view_hours h where h.page_id = p.id and h.kind = 'click'
          and h.day >= @from_day and h.day < @to_day and h.count <> h.rolled_count
    ) w group by t.code
), visits as (
    select v.value as code, sum(v.visits) as visits from site_dimension_days v
    where v.site_id = @site_id and v.dimension = 'link' and v.day >= @from_day and v.day < @to_day group by v.value
), engagement as (
    select e.code, sum_counts(e.engaged) as engaged, sum_counts(e.scrolled) as scrolled from link_engagement e
    where e.site_id = @site_id and e.day >= @from_day and e.day < @to_day group by e.code
), sums as (
    select case @by::text when 'post' then t.post_id::text when 'account' then coalesce(t.account_id::text, '')
      else t.network end as value,
        coalesce(sum(c.clicks), 0) as clicks, coalesce(sum(v.visits), 0) as visits, sum_counts(e.engaged) as engaged,
          sum_counts(e.scrolled) as scrolled
    from targets t left join clicks c on c.code = t.code left join visits v on v.code = t.code left join engagement e
      on e.code = t.code
    where c.clicks is not null or v.visits is not null group by 1
)
select s.value::text as value, s.clicks::bigint as clicks, s.visits::bigint as visits,
    coalesce(s.engaged, '{}')::bigint[] as engaged, coalesce(s.scrolled, '{}')::bigint[] as scrolled,
    coalesce(case @by::text when 'post' then (select left(p.content, 120) from scheduled_posts p
      where p.post_id::text = s.value)
        when 'account' then (select coalesce(nullif(a.label, ''), nullif(a.name, ''), a.handle) from accounts a
          where a.id::text = s.value) end, '')::text as label
from sums s order by s.clicks desc, s.visits desc, s.value limit @rows;
