-- name: AddMeasuredPosts :execrows
-- Schedules the first reading of posts that have none, which is earlier in the sandbox.
insert into post_metrics (account_id, remote_id, due_at)
select r.account_id, r.remote_id,
  r.posted_at + case when a.base_url = any(@sandboxes::text[]) then interval '1 minute' else interval '15 minutes' end
from accounts a join remote_posts r on r.account_id = a.id
where a.network = any(@networks::text[]) and r.posted_at > @since
  and not exists (select 1 from post_metrics m where m.account_id = r.account_id and m.remote_id = r.remote_id)
on conflict do nothing;

-- name: AccountsToMeasure :many
-- Connected accounts with due readings that are not paused. A new token or a changed
-- setting ends a pause.
select a.id from accounts a left join account_measuring s on s.account_id = a.id
where a.status = 'connected' and a.network = any(@networks::text[])
  and (s.resume_at is null or s.resume_at <= @now or s.token_version <> a.token_version or s.settings <> a.settings)
  and exists (select 1 from post_metrics m where m.account_id = a.id and m.due_at <= @now
    and (m.claimed_until is null or m.claimed_until <= @now))
order by a.id limit @rows;

-- name: GetMeasuring :one
select * from account_measuring where account_id = @account_id;

-- name: ListMeasuring :many
select s.* from account_measuring s join accounts a on a.id = s.account_id where a.workspace_id = @workspace_id;

-- name: SaveMeasuring :exec
insert into account_measuring (account_id, reason, message, resume_at, failures, token_version, settings, missing_scope,
  refused, charged_month, charged_reads, read_at)
values (@account_id, @reason, @message, sqlc.narg('resume_at'), @failures, @token_version, @settings, @missing_scope,
  @refused, sqlc.narg('charged_month'), @charged_reads, sqlc.narg('read_at'))
on conflict (account_id) do update set reason = excluded.reason, message = excluded.message,
  resume_at = excluded.resume_at, failures = excluded.failures,
    token_version = excluded.token_version, settings = excluded.settings, missing_scope = excluded.missing_scope,
      refused = excluded.refused,
    charged_month = excluded.charged_month, charged_reads = excluded.charged_reads, read_at = coalesce(excluded.read_at,
      account_measuring.read_at);

-- name: ClaimReadings :many
-- Claims due readings of an account. Own replies are those of the next segment and of
-- posts that continue the thread; own_thread counts all later segments.
with due as (
    select m.account_id, m.remote_id from post_metrics m
    where m.account_id = @account_id and m.due_at <= @now and (m.claimed_until is null or m.claimed_until <= @now)
    order by m.due_at, m.remote_id limit @rows for update skip locked
), claimed as (
    update post_metrics m set claim = @claim::uuid, claimed_until = @until::timestamptz from due
    where m.account_id = due.account_id and m.remote_id = due.remote_id returning m.*
)
select c.remote_id, c.state, c.missing_since, c.measured_at, c.charged_on, r.posted_at, r.target_id, t.post_id,
  p.workspace_id,
    (r.segment > 0 or p.thread_parent_id is not null)::boolean as is_reply,
    coalesce(t.override->'options'->a.network->>'kind', p.options->a.network->>'kind', '')::text as kind,
    ((select count(*) from remote_posts n where n.target_id = r.target_id and n.segment = r.segment + 1)
        + (select count(*) from scheduled_posts c2 join post_targets t2 on t2.post_id = c2.post_id
          and t2.account_id = r.account_id and t2.status = 'posted'
           where c2.thread_parent_id = t.post_id and not exists (select 1 from remote_posts n
             where n.target_id = r.target_id and n.segment > r.segment)))::bigint as own_replies
from claimed c join remote_posts r on r.account_id = c.account_id and r.remote_id = c.remote_id
join post_targets t on t.id = r.target_id join scheduled_posts p on p.post_id = t.post_id join accounts a
  on a.id = c.account_id
order by r.posted_at desc, c.remote_id;

-- name: ReadablePost :one
-- The post of an account that was read last. While it can be read, the network is up,
-- and a post that is missing was deleted.
select m.remote_id from post_metrics m
where m.account_id = @account_id and m.state in ('measured', 'missing') and m.measured_at is not null
  and m.remote_id <> all(@others::text[])
order by m.measured_at desc limit 1;

-- name: RecordReading :execrows
-- No row: another run has claimed it since.
update post_metrics set due_at = sqlc.narg('due_at'), claim = null, claimed_until = null, state = @state,
    missing_since = sqlc.narg('missing_since'), measured_at = coalesce(sqlc.narg('measured_at'), measured_at),
    charged_on = coalesce(sqlc.narg('charged_on'), charged_on), latest = latest || @latest::jsonb
where account_id = @account_id and remote_id = @remote_id and claim = @claim::uuid;

-- name: InsertReadings :exec
insert into post_metric_readings (account_id, remote_id, metric, at, value)
select @account_id, @remote_id, unnest(@metrics::text[]), @at, unnest(@readings::bigint[])
on conflict do nothing;

-- name: InsertDeletedEvent :exec
insert into post_events (post_id, workspace_id, target_id, type, actor, data)
values (@post_id, @workspace_id, @target_id, 'deleted_at_network', 'dateline', @data);

-- name: ReleaseReadings :exec
update post_metrics set claim = null, claimed_until = null where account_id = @account_id and claim = @claim::uuid;

-- name: PostMetrics :many
-- The measured parts of a post, by account and part.
select t.id as target_id, t.account_id, a.network, coalesce(nullif(a.label, ''), nullif(a.name, ''), a.handle)::text
  as account_name,
    r.segment, r.remote_id, r.remote_url, r.posted_at, coalesce(m.state, 'pending')::text as state, m.measured_at,
      m.due_at, coalesce(m.latest, '{}')::jsonb as latest
from post_targets t join remote_posts r on r.target_id = t.id join accounts a on a.id = t.account_id
left join post_metrics m on m.account_id = r.account_id and m.remote_id = r.remote_id
where t.post_id = @post_id order by a.network, t.account_id, r.segment;

-- name: PostMetricReadings :many
select r.account_id, r.remote_id, r.metric, r.at, r.value
from post_targets t join remote_posts p on p.target_id = t.id
join post_metric_readings r on r.account_id = p.account_id and r.remote_id = p.remote_id
where t.post_id = @post_id order by r.account_id, r.remote_id, r.metric, r.at limit 20000;

-- name: PostReportParts :many
-- Published parts of posts whose first part appeared in a period, one row per account
-- and part.
select t.post_id, t.account_id, a.network, coalesce(nullif(a.label, ''), nullif(a.name, ''), a.handle)::text
  as account_name,
    first.posted_at, left(coalesce(t.override->>'content', p.content), 200)::text as content, p.label_ids, r.segment,
    coalesce(m.state, 'pending')::text as state, m.measured_at, coalesce(m.latest, '{}')::jsonb as latest,
    (select count(*) from post_targets o where o.post_id = t.post_id)::bigint as targets
from remote_posts first join post_targets t on t.id = first.target_id join scheduled_posts p on p.post_id = t.post_id
  join accounts a on a.id = t.account_id
join remote_posts r on r.target_id = t.id left join post_metrics m on m.account_id = r.account_id
  and m.remote_id = r.remote_id
where p.workspace_id = @workspace_id and first.segment = 0 and first.posted_at >= @from_time
  and first.posted_at < @to_time
order by first.posted_at desc, t.post_id, t.account_id, r.segment limit @rows;

-- name: PostReportLinks :many
-- Clicks on the short links of posts, the visits of the workspace's sites that
-- started with them (-1 where a link leads to another site), and the engagement of the
-- views that they opened.
select l.post_id::uuid as post_id, l.account_id, l.url, coalesce(v.clicks, 0)::bigint as clicks,
    (case when s.id is not null then coalesce((select sum(d.visits) from site_dimension_days d
        where d.site_id = s.id and d.dimension = 'link' and d.day >= @from_day and d.value = l.code), 0)
          else -1 end)::bigint as visits,
    coalesce(e.engaged, '{}')::bigint[] as engaged, coalesce(e.scrolled, '{}')::bigint[] as scrolled
from links l left join view_pages v on v.site_id = l.workspace_id and v.page = 'link/' || l.code
left join lateral (select s.id from sites s where s.workspace_id = l.workspace_id
    and exists (select 1 from unnest(s.domains) h(host), lower(substring(l.url from '^https?://([^/:?#]+)')) u(host)
        where u.host = h.host or right(u.host, length(h.host) + 1) = '.' || h.host) order by s.id limit 1) s on true
left join lateral (select sum_counts(n.engaged) as engaged, sum_counts(n.scrolled) as scrolled from link_engagement n
    where n.code = l.code and n.site_id = s.id and n.day >= @from_day) e on true
where l.workspace_id = @workspace_id and l.post_id = any(@posts::uuid[])
order by l.post_id, l.account_id, l.created_at, l.code;

-- name: PostReportConversions :many
-- Conversions that sites reported for a post by its id.
select v.page, sum(v.conversions)::bigint as conversions from view_pages v
where v.page = any(@pages::text[])
  and (v.site_id = @workspace_id or v.site_id in (select id from sites where workspace_id = @workspace_id))
group by v.page;

-- name: PostReportArticles :many
-- The articles that links lead to.
select u.url::text as url, a.article_id, coalesce(a.title, '')::text as title, coalesce(a.authors, '{}')::text[]
  as authors, coalesce(a.section, '')::text as section
from (select unnest(@urls::text[]) as url, unnest(@pages::text[]) as page) u
join sites s on s.workspace_id = @workspace_id and exists (select 1 from unnest(s.domains) h(host),
  lower(substring(u.url from '^https?://([^/:?#]+)')) w(host)
    where w.host = h.host or right(w.host, length(h.host) + 1) = '.' || h.host)
join site_articles a on a.site_id = s.id and a.page = u.page
order by u.url, s.id;
