-- name: InsertWatch :one
-- No row: the workspace has reached the limit.
insert into watches (id, workspace_id, user_id, name, url, selector, interval_minutes, paused)
select @id, @workspace_id, sqlc.narg('user_id'), @name, @url, @selector, @interval_minutes, @paused
where (select count(*) from watches w where w.workspace_id = @workspace_id) < @max_watches::int
returning *;

-- name: ListWatches :many
select sqlc.embed(w), (select count(*) from watch_changes c where c.watch_id = w.id) as changes from watches w
  where w.workspace_id = @workspace_id order by w.id;

-- name: GetWatch :one
select sqlc.embed(w), (select count(*) from watch_changes c where c.watch_id = w.id) as changes from watches w
  where w.id = @id and w.workspace_id = @workspace_id;

-- name: UpdateWatch :execrows
-- A restarted watch forgets its text. A check in progress is not recorded.
update watches set name = @name, url = @url, selector = @selector, interval_minutes = @interval_minutes,
  paused = @paused, claim = null,
    lines = case when @restart::bool then null else lines end, etag = case when @restart::bool then '' else etag end,
    last_modified = case when @restart::bool then '' else last_modified end, problem = case when @restart::bool then ''
      else problem end,
    failures = case when @restart::bool then 0 else failures end, due_at = clock_timestamp(), version = version + 1,
      updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and version = @version;

-- name: DeleteWatch :execrows
delete from watches where id = @id and workspace_id = @workspace_id;

-- name: CheckWatchNow :execrows
-- A check in progress is not repeated.
update watches set due_at = least(due_at, clock_timestamp()) where id = @id and workspace_id = @workspace_id
  and not paused and (claim is null or due_at <= clock_timestamp());

-- name: ListWatchChanges :many
select c.* from watch_changes c join watches w on w.id = c.watch_id
where c.watch_id = @watch_id and w.workspace_id = @workspace_id and c.id < @before order by c.id desc limit @page_size;

-- name: ClaimWatches :many
update watches set claim = @claim, due_at = clock_timestamp() + make_interval(secs => @seconds::float8)
where id in (select w.id from watches w where not w.paused and w.due_at <= clock_timestamp() order by w.due_at,
  w.id limit @batch for update skip locked)
returning *;

-- name: RecordWatchCheck :execrows
-- No row: the claim has expired, or the watch was changed.
update watches set claim = null, lines = sqlc.narg('lines')::text[], etag = @etag, last_modified = @last_modified,
  problem = @problem, failures = @failures,
    due_at = clock_timestamp() + make_interval(secs => @seconds::float8), checked_at = clock_timestamp(),
    changed_at = case when @changed::bool then clock_timestamp() else changed_at end
where id = @id and claim = @claim::uuid;

-- name: ReleaseWatch :exec
-- Without a problem, that of the last check stays.
update watches set claim = null, problem = case when @problem::text = '' then problem else @problem end,
  due_at = clock_timestamp() + make_interval(secs => @seconds::float8) where id = @id and claim = @claim::uuid;

-- name: InsertWatchChange :exec
insert into watch_changes (id, watch_id, added, removed) values (@id, @watch_id, @added::text[], @removed::text[]);

-- name: DeleteOldWatchChanges :exec
delete from watch_changes c where c.watch_id = @watch_id and c.id not in (select n.id from watch_changes n
  where n.watch_id = @watch_id order by n.id desc limit @max_changes);

-- name: InsertWatchEvent :exec
insert into post_events (workspace_id, type, actor, data)
values (@workspace_id, 'page_changed', 'dateline', jsonb_build_object('watch_id', @watch_id::uuid, 'change_id',
  @change_id::uuid, 'watch', @name::text, 'url', @url::text,
    'added', @added::int, 'removed', @removed::int, 'lines', @lines::text[]));
