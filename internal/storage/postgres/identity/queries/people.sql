-- name: InsertWorkspace :one
insert into workspaces (id, name, time_zone) values (@id, @name, @time_zone) returning *;

-- name: FirstWorkspace :one
select * from workspaces order by created_at, id limit 1;

-- name: GetWorkspace :one
select * from workspaces where id = @id;

-- name: LockWorkspace :one
-- Serializes changes of a workspace and its members, so that two owners cannot remove
-- each other. Statements that only refer to the workspace do not wait.
select * from workspaces where id = @id for no key update;

-- name: UpdateWorkspace :one
update workspaces set name = @name, time_zone = @time_zone, authors_need_approval = @authors_need_approval,
  keep_media_credit = @keep_media_credit
where id = @id
returning *;

-- name: WorkspacesOfUser :many
select sqlc.embed(w), m.role
from members m join workspaces w on w.id = m.workspace_id
where m.user_id = @user_id
order by w.created_at, w.id;

-- name: InsertUser :one
insert into users (id, name, email) values (@id, @name, sqlc.narg('email')) returning *;

-- name: UserOfEmail :one
-- The user of an address, created if there is none.
insert into users (id, name, email) values (@id, @email, @email)
on conflict (email) do update set email = excluded.email
returning *;

-- name: GetUser :one
select * from users where id = @id;

-- name: FirstOwner :one
select user_id from members where workspace_id = @workspace_id and role = 'owner' order by created_at, user_id limit 1;

-- name: InsertToken :exec
insert into api_tokens (id, workspace_id, user_id, name, hint, hash, scopes, expires_at)
values (@id, @workspace_id, @user_id, @name, @hint, @hash, @scopes, sqlc.narg('expires_at'));

-- name: RevokeTokensNamed :many
update api_tokens set revoked_at = now()
where workspace_id = @workspace_id and user_id = @user_id and name = @name and revoked_at is null
returning id;

-- name: RevokeTokensOfMember :execrows
update api_tokens set revoked_at = now()
where workspace_id = @workspace_id and user_id = @user_id and revoked_at is null;

-- name: RevokeToken :one
update api_tokens set revoked_at = now()
where id = @id and workspace_id = @workspace_id and revoked_at is null
  and (sqlc.narg('only_of')::uuid is null or user_id = sqlc.narg('only_of'))
returning *;

-- name: ListTokens :many
select sqlc.embed(t), u.name as user_name, u.email as user_email
from api_tokens t join users u on u.id = t.user_id
where t.workspace_id = @workspace_id and t.revoked_at is null
  and (sqlc.narg('only_of')::uuid is null or t.user_id = sqlc.narg('only_of'))
  and (sqlc.narg('before')::uuid is null or t.id < sqlc.narg('before'))
order by t.id desc limit @page_size;

-- name: GetToken :one
select sqlc.embed(t), u.name as user_name, u.email as user_email
from api_tokens t join users u on u.id = t.user_id
where t.id = @id and t.workspace_id = @workspace_id;

-- name: TokenByHash :one
-- Runs for every request: two lookups by key. Invalid tokens are found, too, so that
-- their holders get the reason.
select t.id, t.workspace_id, t.user_id, t.name, t.scopes, t.expires_at, m.role,
    (t.revoked_at is not null)::boolean as revoked,
    coalesce(t.expires_at <= now(), false)::boolean as expired,
    (t.last_used_at is null or t.last_used_at < now() - interval '1 minute')::boolean as use_is_news
from api_tokens t left join members m on m.workspace_id = t.workspace_id and m.user_id = t.user_id
where t.hash = @hash;

-- name: TouchTokens :exec
-- last_used_at is informational, so an update once a minute suffices, however many
-- processes use the token.
update api_tokens set last_used_at = now()
where id = any(@ids::uuid[]) and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: LockDemo :exec
-- Serializes the creation of the demo. The number only has to differ from those of other locks.
select pg_advisory_xact_lock(6029340029);

-- name: DemoWorkspace :one
select w.* from settings s join workspaces w on w.id::text = s.value where s.key = 'demo_workspace';

-- name: MoveSessionsFrom :exec
-- Sessions end with their workspace. Those of users with another one show that.
update sessions s set workspace_id = other.workspace_id
from (
    select distinct on (user_id) user_id, workspace_id from members
    where workspace_id <> @workspace_id order by user_id, created_at, workspace_id
) other
where s.workspace_id = @workspace_id and other.user_id = s.user_id;

-- name: DeletePostsOf :exec
-- Before the accounts that their targets refer to.
delete from scheduled_posts where workspace_id = @workspace_id;

-- name: DeleteWorkspace :exec
delete from workspaces where id = @id;
