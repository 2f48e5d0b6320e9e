-- name: InsertIdempotencyKey :execrows
-- key is that of a user, see userKey.
insert into idempotency_keys (workspace_id, key, request_hash, resource_id)
values (@workspace_id, @key, @request_hash, @resource_id)
on conflict (workspace_id, key) do nothing;

-- name: GetIdempotencyKey :one
select * from idempotency_keys where workspace_id = @workspace_id and key = @key;
