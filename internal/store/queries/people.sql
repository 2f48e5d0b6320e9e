-- name: InsertWorkspace :one
insert into workspaces (id, name, time_zone) values (@id, @name, @time_zone) returning *;

-- name: FirstWorkspace :one
select * from workspaces order by created_at, id limit 1;

-- name: GetWorkspace :one
select * from workspaces where id = @id;

-- name: InsertUser :one
insert into users (id, name, email) values (@id, @name, sqlc.narg('email')) returning *;

-- name: InsertMember :exec
insert into members (workspace_id, user_id, role) values (@workspace_id, @user_id, @role);

-- name: FirstOwner :one
select user_id from members where workspace_id = @workspace_id and role = 'owner' order by created_at, user_id limit 1;

-- name: InsertToken :exec
insert into api_tokens (id, workspace_id, user_id, name, hint, hash, expires_at)
values (@id, @workspace_id, @user_id, @name, @hint, @hash, sqlc.narg('expires_at'));

-- name: RevokeTokensNamed :exec
update api_tokens set revoked_at = now()
where workspace_id = @workspace_id and name = @name and revoked_at is null;

-- name: TokenByHash :one
-- last_used_at is written at most once a minute: it is for people to look at.
select t.id, t.workspace_id, t.user_id, m.role, t.last_used_at
from api_tokens t join members m on m.workspace_id = t.workspace_id and m.user_id = t.user_id
where t.hash = @hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now());

-- name: TouchToken :exec
update api_tokens set last_used_at = now() where id = @id;

-- name: InsertIdempotencyKey :execrows
insert into idempotency_keys (workspace_id, key, request_hash, resource_id)
values (@workspace_id, @key, @request_hash, @resource_id)
on conflict (workspace_id, key) do nothing;

-- name: GetIdempotencyKey :one
select * from idempotency_keys where workspace_id = @workspace_id and key = @key;

-- name: DeleteOldIdempotencyKeys :execrows
delete from idempotency_keys where created_at < now() - interval '7 days';

-- name: GetSetting :one
select value from settings where key = @key;

-- name: PutSetting :exec
insert into settings (key, value) values (@key, @value)
on conflict (key) do update set value = excluded.value, updated_at = now();
