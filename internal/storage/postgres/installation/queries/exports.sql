-- name: InsertExport :one
-- Returns no row if the workspace has an active export.
insert into workspace_exports (id, workspace_id, user_id) values (@id, @workspace_id, sqlc.narg('user_id'))
on conflict (workspace_id) where status in ('pending', 'running') do nothing
returning *;

-- name: ActiveExport :one
select * from workspace_exports where workspace_id = @workspace_id and status in ('pending', 'running');

-- name: WorkspaceExport :one
select * from workspace_exports where id = @id;

-- name: ListExports :many
select * from workspace_exports where workspace_id = @workspace_id order by requested_at desc, id limit 50;

-- name: UpdateExportProgress :execrows
update workspace_exports set status = 'running', progress = @progress
where id = @id and status in ('pending', 'running');

-- name: FinishExport :execrows
update workspace_exports set status = 'done', progress = @progress, bytes = @bytes, finished_at = clock_timestamp(),
    expires_at = clock_timestamp() + make_interval(secs => @retention_seconds::float8)
where id = @id and status in ('pending', 'running');

-- name: FailExport :exec
update workspace_exports set status = 'failed', error = @error, finished_at = clock_timestamp()
where id = @id and status in ('pending', 'running');

-- name: CancelExport :exec
update workspace_exports set status = 'canceled', finished_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and status in ('pending', 'running');

-- name: ExpireExport :exec
update workspace_exports set status = 'expired' where id = @id and status = 'done';
