-- name: InsertMedia :one
insert into media (id, workspace_id, user_id, object_key, sha256, mime_type, bytes, width, height, file_name, alt_text)
values (@id, @workspace_id, @user_id, @object_key, @sha256, @mime_type, @bytes, @width, @height, @file_name, @alt_text)
returning *;

-- name: GetMedia :one
select * from media where id = @id and workspace_id = @workspace_id;

-- name: MediaByID :many
select * from media where workspace_id = @workspace_id and id = any(@ids::uuid[]);
