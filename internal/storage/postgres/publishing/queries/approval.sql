-- name: SubmitPost :one
-- Submits a draft for approval. It must have a time, or get one.
update scheduled_posts set approval = 'pending', submitted_by = sqlc.narg('submitted_by')::uuid,
  submitted_at = clock_timestamp(),
    approval_by = null, approval_at = null, approval_note = '',
    queue_group_id = case when @set_queue_group::bool then sqlc.narg('queue_group_id')::uuid else queue_group_id end,
    scheduled_time = coalesce(sqlc.narg('scheduled_time'), scheduled_time), time_zone = coalesce(sqlc.narg('time_zone'),
      time_zone),
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where post_id = @post_id and workspace_id = @workspace_id and status = 'draft'
  and coalesce(sqlc.narg('scheduled_time'), scheduled_time) is not null
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: ApprovePost :one
-- Schedules a pending post as requested, unless its time has passed. A post that
-- only its series has changed stays unmodified.
update scheduled_posts set status = 'scheduled', approval = 'approved',
    approval_by = sqlc.narg('approver')::uuid, approval_at = clock_timestamp(), approval_note = '',
    series_revision = case when series_revision = revision then revision + 1 else series_revision end,
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where post_id = @post_id and workspace_id = @workspace_id and status = 'draft' and approval = 'pending'
  and scheduled_time > clock_timestamp()
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: RejectPost :one
update scheduled_posts set approval = 'rejected',
    approval_by = sqlc.narg('approver')::uuid, approval_at = clock_timestamp(), approval_note = @note,
    version = version + 1, updated_at = clock_timestamp()
where post_id = @post_id and workspace_id = @workspace_id and status = 'draft' and approval = 'pending'
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: ReopenPost :one
-- Undoes an approval or a request for changes: the post is pending again. Nothing of it may have started, and its new
-- revision invalidates what publishers hold. A post that only its series has changed stays unmodified.
update scheduled_posts p set status = 'draft', approval = 'pending',
    approval_by = null, approval_at = null, approval_note = '',
    series_revision = case when series_revision = revision then revision + 1 else series_revision end,
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where p.post_id = @post_id and p.workspace_id = @workspace_id
  and (p.status = 'scheduled' and p.approval = 'approved' or p.status = 'draft' and p.approval = 'rejected')
  and not exists (
    select 1 from post_targets t where t.post_id = p.post_id and t.status not in ('scheduled', 'canceled'))
  and (@if_version::bigint = 0 or p.version = @if_version)
returning *;

-- name: NoteOverdue :one
-- Records once why a pending post can no longer be approved.
update scheduled_posts set approval_note = @note, version = version + 1, updated_at = clock_timestamp()
where post_id = @post_id and workspace_id = @workspace_id and status = 'draft' and approval = 'pending'
  and scheduled_time <= clock_timestamp() and approval_note <> @note
returning *;
