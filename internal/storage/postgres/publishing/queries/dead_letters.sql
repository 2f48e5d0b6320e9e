-- name: RedriveTargets :many
-- Retries failed targets; without targets, all of the post. Late results of the
-- previous attempts no longer apply.
update post_targets set status = 'scheduled', attempts = 0, fence = fence + 1, claimed_until = null,
  updated_at = clock_timestamp()
where post_id = @post_id and status = 'failed'
  and (cardinality(@target_ids::uuid[]) = 0 or id = any(@target_ids::uuid[]))
returning id;

-- name: RedrivePost :one
-- The revision stays, so that a repeated send uses the same key. Clearing the revision
-- that the workflow has seen makes the reconciler signal it.
update scheduled_posts p set
    status = case when exists (
            select 1 from post_targets t left join remote_posts r on r.target_id = t.id
            where t.post_id = p.post_id and (t.status in ('publishing', 'posted', 'uncertain')
              or r.target_id is not null))
        then 'publishing'::post_status else 'scheduled'::post_status end,
    redriven_at = case when @by_person::bool then clock_timestamp() else redriven_at end,
    late_noted_at = null, workflow_revision = null,
    version = version + 1, updated_at = clock_timestamp()
where p.post_id = @post_id
returning *;

-- name: DiscardTargets :many
update post_targets set status = 'canceled', claimed_until = null, updated_at = clock_timestamp()
where post_id = @post_id and status in ('failed', 'uncertain')
  and (cardinality(@target_ids::uuid[]) = 0 or id = any(@target_ids::uuid[]))
returning id;

-- name: AcceptDifferences :many
-- Decides that posts stay as the network made them.
update post_targets set needs_review = false, updated_at = clock_timestamp()
where post_id = @post_id and needs_review
  and (cardinality(@target_ids::uuid[]) = 0 or id = any(@target_ids::uuid[]))
returning id;

-- name: DeletedTarget :one
-- Records that everything of a target was deleted at its network. Its status stays, so
-- that nothing sends it again.
update post_targets set deleted_at = clock_timestamp(), needs_review = false, updated_at = clock_timestamp()
where id = @id and post_id = @post_id and status = 'posted' and deleted_at is null
returning *;

-- name: UndecidedOperation :one
-- The call that a person has to decide on.
select o.* from operations o join post_targets t on t.id = o.target_id
where t.id = @target_id and t.post_id = @post_id and t.status = 'uncertain' and o.state = 'manual'
  and not o.evidence ? 'decided_by'
order by o.created_at desc limit 1;

-- name: DecideOperation :exec
update operations set state = @state, remote_id = coalesce(sqlc.narg('remote_id'), remote_id),
    evidence = evidence || @evidence, finished_at = clock_timestamp()
where id = @id;

-- name: DecideTarget :one
update post_targets set status = @status, attempts = 0, fence = fence + 1, claimed_until = null,
    error_class = null, error_code = null, error_message = null,
    remote_id = coalesce(remote_id, sqlc.narg('remote_id')), remote_url = coalesce(remote_url, sqlc.narg('remote_url')),
    posted_at = coalesce(sqlc.narg('posted_at'), posted_at), updated_at = clock_timestamp()
where id = @id and status = 'uncertain'
returning *;

-- name: ReconnectedPosts :many
-- Posts that failed because of an invalid token of an account that was reconnected
-- since.
select distinct t.post_id from post_targets t join accounts a on a.id = t.account_id
where t.status = 'failed' and t.error_class = 'auth' and t.updated_at > clock_timestamp() - interval '30 days'
  and a.status = 'connected' and a.updated_at > t.updated_at
limit @batch;

-- name: DeadLetters :many
select t.*, (case when t.status in ('failed', 'uncertain') then coalesce(t.error_class, '') else 'differs' end)::text
  as reason, p.content, p.scheduled_time, p.time_zone, p.status as post_status, a.network, a.handle
from post_targets t
join scheduled_posts p on p.post_id = t.post_id
join accounts a on a.id = t.account_id
where p.workspace_id = @workspace_id and (t.status in ('failed', 'uncertain') or t.needs_review)
  and (cardinality(@reasons::text[]) = 0 or case when t.status in ('failed', 'uncertain') then t.error_class
    else 'differs' end = any(@reasons::text[]))
  and (cardinality(@networks::text[]) = 0 or a.network = any(@networks::text[]))
  and (sqlc.narg('account_id')::uuid is null or t.account_id = sqlc.narg('account_id'))
  and (cardinality(@post_ids::uuid[]) = 0 or t.post_id = any(@post_ids::uuid[]))
  and (sqlc.narg('target_status')::text is null or t.status::text = sqlc.narg('target_status'))
  and (sqlc.narg('before_time')::timestamptz is null
       or (t.updated_at, t.id) < (sqlc.narg('before_time'), sqlc.narg('before_id')::uuid))
order by t.updated_at desc, t.id desc
limit @page_size;

-- name: CountDeadLetters :many
select t.status, (case when t.status in ('failed', 'uncertain') then coalesce(t.error_class, '')
  else 'differs' end)::text as reason, a.network, count(*) as letters, min(t.updated_at)::timestamptz as oldest
from post_targets t
join scheduled_posts p on p.post_id = t.post_id
join accounts a on a.id = t.account_id
where p.workspace_id = @workspace_id and (t.status in ('failed', 'uncertain') or t.needs_review)
group by 1, 2, 3
order by 1, 2, 3;

-- name: ReconnectedTargets :many
select t.id from post_targets t join accounts a on a.id = t.account_id
where t.post_id = @post_id and t.status = 'failed' and t.error_class = 'auth'
  and a.status = 'connected' and a.updated_at > t.updated_at;

-- name: ForgetWorkflow :exec
update scheduled_posts set workflow_revision = null, redriven_at = clock_timestamp(), late_noted_at = null
  where post_id = @post_id;
