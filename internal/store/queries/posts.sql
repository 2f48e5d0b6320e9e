-- name: InsertPost :one
insert into scheduled_posts (
    post_id, workspace_id, user_id, content, scheduled_time, time_zone,
    attachment_ids, attachment_urls, thread_id, thread_parent_id, language
) values (
    @post_id, @workspace_id, @user_id, @content, @scheduled_time, @time_zone,
    @attachment_ids, @attachment_urls, sqlc.narg('thread_id'), sqlc.narg('thread_parent_id'), @language
) returning *;

-- name: InsertTargets :exec
insert into post_targets (id, post_id, account_id)
select unnest(@ids::uuid[]), @post_id, unnest(@account_ids::uuid[]);

-- name: DeleteTargets :exec
delete from post_targets where post_id = @post_id and not account_id = any(@keep_account_ids::uuid[]);

-- name: GetPost :one
select * from scheduled_posts where post_id = @post_id;

-- name: GetPostInWorkspace :one
select * from scheduled_posts where post_id = @post_id and workspace_id = @workspace_id;

-- name: LockPost :one
select * from scheduled_posts where post_id = @post_id for update;

-- name: TargetsOfPosts :many
select t.*, a.network, a.handle
from post_targets t join accounts a on a.id = t.account_id
where t.post_id = any(@post_ids::uuid[])
order by t.post_id, a.created_at, t.id;

-- name: ListPostsAscending :many
select * from scheduled_posts p
where p.workspace_id = @workspace_id
  and (cardinality(@statuses::text[]) = 0 or p.status::text = any(@statuses::text[]))
  and (sqlc.narg('from_time')::timestamptz is null or p.scheduled_time >= sqlc.narg('from_time'))
  and (sqlc.narg('to_time')::timestamptz is null or p.scheduled_time < sqlc.narg('to_time'))
  and (sqlc.narg('account_id')::uuid is null or exists (
        select 1 from post_targets t where t.post_id = p.post_id and t.account_id = sqlc.narg('account_id')))
  and (sqlc.narg('after_time')::timestamptz is null
       or (p.scheduled_time, p.post_id) > (sqlc.narg('after_time'), sqlc.narg('after_id')::uuid))
order by p.scheduled_time, p.post_id
limit @page_size;

-- name: ListPostsDescending :many
select * from scheduled_posts p
where p.workspace_id = @workspace_id
  and (cardinality(@statuses::text[]) = 0 or p.status::text = any(@statuses::text[]))
  and (sqlc.narg('from_time')::timestamptz is null or p.scheduled_time >= sqlc.narg('from_time'))
  and (sqlc.narg('to_time')::timestamptz is null or p.scheduled_time < sqlc.narg('to_time'))
  and (sqlc.narg('account_id')::uuid is null or exists (
        select 1 from post_targets t where t.post_id = p.post_id and t.account_id = sqlc.narg('account_id')))
  and (sqlc.narg('after_time')::timestamptz is null
       or (p.scheduled_time, p.post_id) < (sqlc.narg('after_time'), sqlc.narg('after_id')::uuid))
order by p.scheduled_time desc, p.post_id desc
limit @page_size;

-- name: EditPost :one
-- The guarded edit. if_version 0 means any version.
update scheduled_posts set
    content         = coalesce(sqlc.narg('content'), content),
    scheduled_time  = coalesce(sqlc.narg('scheduled_time'), scheduled_time),
    time_zone       = coalesce(sqlc.narg('time_zone'), time_zone),
    language        = coalesce(sqlc.narg('language'), language),
    attachment_ids  = coalesce(sqlc.narg('attachment_ids')::uuid[], attachment_ids),
    attachment_urls = coalesce(sqlc.narg('attachment_urls')::text[], attachment_urls),
    platform_media_ids = case when sqlc.narg('attachment_ids')::uuid[] is null
                              then platform_media_ids else '{}' end,
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where post_id = @post_id and workspace_id = @workspace_id
  and status in ('draft', 'scheduled')
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: CancelPost :one
update scheduled_posts set status = 'cancelled',
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where post_id = @post_id and workspace_id = @workspace_id
  and status in ('draft', 'scheduled')
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: CancelTargets :exec
update post_targets set status = 'cancelled', updated_at = clock_timestamp()
where post_id = @post_id and status = 'scheduled';

-- name: PublishNow :one
update scheduled_posts set scheduled_time = least(scheduled_time, clock_timestamp()),
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where post_id = @post_id and workspace_id = @workspace_id
  and status in ('draft', 'scheduled')
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: AcknowledgeRevision :one
-- The workflow says which revision it acts on; see PostsMissingWorkflow.
update scheduled_posts set workflow_revision = revision where post_id = @post_id returning *;

-- name: PostsMissingWorkflow :many
-- Posts whose workflow was never told of the newest revision, or should have
-- acted long ago: Temporal was away, or lost what it knew.
select p.post_id, p.workspace_id, p.scheduled_time, p.status, p.revision, p.workflow_revision
from scheduled_posts p
where p.status in ('scheduled', 'publishing')
  and (   (p.workflow_revision is distinct from p.revision and p.updated_at < clock_timestamp() - interval '5 seconds')
       or (p.status = 'scheduled' and p.scheduled_time < clock_timestamp() - interval '10 seconds')
       or (p.status = 'publishing' and p.updated_at < clock_timestamp() - interval '2 minutes'))
  and exists (select 1 from post_targets t where t.post_id = p.post_id and t.status in ('scheduled', 'publishing'))
order by p.scheduled_time
limit @batch;

-- name: ForgetWorkflows :execrows
update scheduled_posts set workflow_revision = null
where status in ('scheduled', 'publishing') and workflow_revision is not null;

-- name: SetPlatformMedia :exec
update scheduled_posts set platform_media_ids = platform_media_ids || jsonb_build_object(@account_id::text, @handles::jsonb)
where post_id = @post_id and revision = @revision;

-- name: RemoteIDOnAccount :one
-- Where a reply hangs: the parent's post on the same account.
select t.status, t.remote_id from post_targets t
where t.post_id = @post_id and t.account_id = @account_id;

-- name: CountDue :one
-- How crowded a stretch of time is, up to a bound that costs nothing to count to.
select count(*) from (
    select 1 from scheduled_posts
    where status = 'scheduled' and scheduled_time >= @from_time and scheduled_time < @to_time
    limit @most
) due;
