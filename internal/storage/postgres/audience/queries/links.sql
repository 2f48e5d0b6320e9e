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

-- name: PostOfLink :one
select post_id from scheduled_posts where post_id = @post_id and workspace_id = @workspace_id;
