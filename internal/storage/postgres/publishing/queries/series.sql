-- name: InsertSeries :one
insert into series (id, workspace_id, user_id, rule, starts, time_zone, template, by_author)
values (@id, @workspace_id, @user_id, @rule, @starts, @time_zone, @template, @by_author)
returning *;

-- name: GetSeries :one
select * from series where id = @id;

-- name: GetSeriesInWorkspace :one
select * from series where id = @id and workspace_id = @workspace_id;

-- name: ListSeries :many
select * from series
where workspace_id = @workspace_id
  and (cardinality(@statuses::text[]) = 0 or status::text = any(@statuses::text[]))
  and (sqlc.narg('before_time')::timestamptz is null
       or (created_at, id) < (sqlc.narg('before_time'), sqlc.narg('before_id')::uuid))
order by created_at desc, id desc
limit @page_size;

-- name: OpenSeries :many
select id from series where status <> 'ended' and id > @after_id order by id limit @batch;

-- name: EditSeries :one
-- The guarded edit. An ended series does not change. Occurrences of a new rule count
-- from now on.
update series set
    rule      = coalesce(sqlc.narg('rule'), rule),
    starts    = coalesce(sqlc.narg('starts'), starts),
    time_zone = coalesce(sqlc.narg('time_zone'), time_zone),
    template  = coalesce(sqlc.narg('template')::jsonb, template),
    by_author = @by_author,
    template_revision = template_revision + 1, checked_until = clock_timestamp(),
    version = version + 1, updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and status <> 'ended'
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: SetSeriesStatus :one
-- Occurrences that pass while a series is paused are not missed.
update series set status = @status::series_status,
    checked_until = case when status = 'paused' and @status::series_status = 'active' then clock_timestamp()
      else checked_until end,
    version = version + 1, updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and status <> 'ended'
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: TouchSeries :one
update series set version = version + 1, updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and status <> 'ended'
returning *;

-- name: LockSeriesVersion :one
-- Locks the series while one of its posts is written.
select * from series where id = @id and version = @version for share;

-- name: SetCheckedUntil :execrows
update series set checked_until = greatest(checked_until, @checked_until),
    last_error = sqlc.narg('last_error'),
    last_error_at = case when sqlc.narg('last_error')::jsonb is null then null
        when last_error is distinct from sqlc.narg('last_error') then clock_timestamp() else last_error_at end
where id = @id and version = @version;

-- name: SaveSeriesException :exec
insert into series_exceptions (series_id, occurrence, kind, reason) values (@series_id, @occurrence, @kind,
  coalesce(sqlc.narg('reason')::jsonb, '[]'))
on conflict (series_id, occurrence) do nothing;

-- name: DeleteSkip :execrows
delete from series_exceptions where series_id = @series_id and occurrence = @occurrence and kind = 'skipped';

-- name: SeriesExceptions :many
select * from series_exceptions where series_id = @series_id and occurrence >= @from_occurrence order by occurrence
  limit @batch;

-- name: MissedOfSeries :many
select * from series_exceptions where series_id = @series_id and kind = 'missed' order by occurrence desc limit @batch;

-- name: SkippedOfSeries :many
select occurrence from series_exceptions where series_id = @series_id and kind = 'skipped' order by occurrence desc
  limit @batch;

-- name: PostsOfSeries :many
select * from scheduled_posts
where series_id = @series_id and not withdrawn
  and (occurrence >= @from_occurrence or status in ('draft', 'scheduled'))
order by occurrence;

-- name: InsertOccurrence :one
-- No row: the occurrence is already a post.
insert into scheduled_posts (
    post_id, workspace_id, user_id, content, scheduled_time, time_zone, status, attachment_ids, attachment_urls,
    thread, options, late_limit_minutes, language, link_base, series_id, occurrence, series_revision,
      series_template_revision, approval, submitted_at
) values (
    @post_id, @workspace_id, @user_id, @content, @scheduled_time, @time_zone, @status, @attachment_ids,
      @attachment_urls,
    @thread, @options, sqlc.narg('late_limit_minutes'), @language, sqlc.narg('link_base'), @series_id, @occurrence, 1,
      @series_template_revision,
    @approval, case when @approval = 'pending'::approval_state then clock_timestamp() end
) on conflict (series_id, occurrence) where series_id is not null and not withdrawn do nothing
returning *;

-- name: TakeOccurrence :one
-- A post that only its series has changed stays unmodified.
update scheduled_posts set series_revision = revision, series_template_revision = @series_template_revision
where post_id = @post_id returning *;

-- name: WithdrawPost :exec
update scheduled_posts set withdrawn = true where post_id = @post_id;
