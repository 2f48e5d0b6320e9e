-- name: InsertExport :one
-- Nothing when one is under way.
insert into workspace_exports (id, workspace_id, user_id) values (@id, @workspace_id, sqlc.narg('user_id'))
on conflict (workspace_id) where status in ('waiting', 'writing') do nothing
returning *;

-- name: ExportUnderWay :one
select * from workspace_exports where workspace_id = @workspace_id and status in ('waiting', 'writing');

-- name: WorkspaceExport :one
select * from workspace_exports where id = @id;

-- name: ListExports :many
select * from workspace_exports where workspace_id = @workspace_id order by requested_at desc, id limit 50;

-- name: NoteExportProgress :execrows
update workspace_exports set status = 'writing', progress = @progress
where id = @id and status in ('waiting', 'writing');

-- name: FinishExport :execrows
update workspace_exports set status = 'done', progress = @progress, bytes = @bytes, finished_at = clock_timestamp(),
    expires_at = clock_timestamp() + make_interval(secs => @keep_seconds::float8)
where id = @id and status in ('waiting', 'writing');

-- name: FailExport :exec
update workspace_exports set status = 'failed', problem = @problem, finished_at = clock_timestamp()
where id = @id and status in ('waiting', 'writing');

-- name: ExpireExport :exec
update workspace_exports set status = 'expired' where id = @id and status = 'done';
