-- name: InsertPostLinks :execrows
-- A code is derived from post, account and URL, so an existing code is the same
-- link. A missing row means that a code is used by another link.
insert into links (code, workspace_id, user_id, post_id, account_id, network, url)
select w.code, @workspace_id, @user_id, @post_id::uuid, w.account_id, a.network, w.url
from (select unnest(@codes::text[]) as code, unnest(@account_ids::uuid[]) as account_id, unnest(@urls::text[]) as url) w
join accounts a on a.id = w.account_id
order by w.code
on conflict (code) do update set url = excluded.url where links.post_id = excluded.post_id and links.url = excluded.url;

-- name: InsertLink :one
-- No row: the code is taken.
insert into links (code, workspace_id, user_id, post_id, url, title)
values (@code, @workspace_id, @user_id, sqlc.narg('post_id'), @url, @title)
on conflict (code) do nothing returning *;

-- name: GetLink :one
-- The UTM parameters of a post's link: those of the post replace those of its campaign,
-- which replace those of the account.
select sqlc.embed(l), (case when l.account_id is null then '{}'::jsonb else coalesce(a.utm, '{}')
    || coalesce((select k.utm from labels k where k.id = any(p.label_ids) and k.kind = 'campaign' limit 1), '{}')
    || coalesce(p.utm, '{}') end)::jsonb as utm
from links l
left join accounts a on a.id = l.account_id
left join scheduled_posts p on p.post_id = l.post_id
where l.code = @code;

-- name: GetLinkInWorkspace :one
select * from links where code = @code and workspace_id = @workspace_id;

-- name: ListLinks :many
select l.* from links l
where l.workspace_id = @workspace_id
  and (sqlc.narg('post_id')::uuid is null or l.post_id = sqlc.narg('post_id'))
  and (@before_code::text = '' or (l.created_at, l.code) < (select b.created_at, b.code from links b
    where b.code = @before_code and b.workspace_id = @workspace_id))
order by l.created_at desc, l.code desc
limit @page_size;

-- name: SetLinkDisabled :one
update links set disabled_at = case when @disabled::bool then coalesce(disabled_at, clock_timestamp()) end
where code = @code and workspace_id = @workspace_id
returning *;

