-- name: ListAudit :many
select sqlc.embed(l), coalesce(u.name, '')::text as user_name, coalesce(t.name, '')::text as token_name
from audit_log l
left join users u on u.id = l.user_id
left join api_tokens t on t.id = l.token_id
where l.workspace_id = @workspace_id
  and (@actor::text = '' or l.actor = @actor)
  and (sqlc.narg('user_id')::uuid is null or l.user_id = sqlc.narg('user_id'))
  and (cardinality(@actions::text[]) = 0 or l.action = any(@actions::text[]))
  and (sqlc.narg('object_id')::uuid is null or l.object_id = sqlc.narg('object_id'))
  and (sqlc.narg('from_time')::timestamptz is null or l.at >= sqlc.narg('from_time'))
  and (sqlc.narg('to_time')::timestamptz is null or l.at < sqlc.narg('to_time'))
  and (sqlc.narg('before')::bigint is null or l.id < sqlc.narg('before'))
order by l.id desc limit @page_size;

-- name: AuditNames :many
-- Objects that exist, with their current names; empty: a secret, or none.
select o.id::uuid as id, o.name::text as name
from (
    select r.id, r.name from rules r where r.workspace_id = @workspace_id
    union all
    select s.id, s.name from sites s where s.workspace_id = @workspace_id
    union all
    select a.id, coalesce(nullif(a.label, ''), a.handle) from accounts a where a.workspace_id = @workspace_id
    union all
    select w.id, '' from webhook_endpoints w where w.workspace_id = @workspace_id
    union all
    select c.id, '' from notification_channels c where c.workspace_id = @workspace_id
    union all
    select f.id, f.file_name from media f where f.workspace_id = @workspace_id
    union all
    select d.id, coalesce(nullif(d.title, ''), d.url) from seeds d where d.workspace_id = @workspace_id
    union all
    select p.post_id, left(p.content, 80) from scheduled_posts p where p.workspace_id = @workspace_id
    union all
    select l.id, l.name from shared_links l where l.workspace_id = @workspace_id
    union all
    select n.id, '' from report_subscriptions n where n.workspace_id = @workspace_id
    union all
    select t.id, t.name from api_tokens t where t.workspace_id = @workspace_id and t.revoked_at is null
    union all
    select u.id, u.name from members m join users u on u.id = m.user_id where m.workspace_id = @workspace_id
    union all
    select y.id, coalesce((
        select a.title from story_articles x join articles a on a.id = x.article_id
        where x.story_id = y.id
        order by (x.article_id = y.headline_article) desc nulls last, x.dated_at desc, x.article_id limit 1
    ), '') from stories y
) o
where o.id = any(@ids::uuid[]);

-- name: AuditLastNames :many
-- The last recorded names of objects, and the names of former members. Of those who never joined, the name is
-- the email address.
(select distinct on (l.object_id) l.object_id::uuid as id,
    coalesce(l.data->>'name', l.data->>'handle', l.data->>'host', l.data->>'domain')::text as name
from audit_log l
where l.workspace_id = @workspace_id and l.object_id = any(@ids::uuid[]) and l.data ?| '{name,handle,host,domain}'
order by l.object_id, l.id desc)
union all
select u.id, u.name from users u where u.id = any(@ids::uuid[]) and lower(u.name) is distinct from lower(u.email);
