-- name: GetTarget :one
select * from post_targets where id = @id;

-- name: ClaimTarget :one
-- The last gate before the network: whoever gets a row may send once, under
-- this fence and until claimed_until. The ledger row is written with it.
with free as (
    select t.id as target_id, p.post_id, p.workspace_id, p.scheduled_time
    from scheduled_posts p join post_targets t on t.post_id = p.post_id
    where p.post_id = @post_id and p.revision = @revision and p.status in ('scheduled', 'publishing')
      and t.id = @target_id and t.status in ('scheduled', 'publishing')
      and (t.claimed_until is null or t.claimed_until < clock_timestamp())
      -- A call whose outcome is unknown is looked for before anything is sent.
      and not exists (select 1 from operations o where o.target_id = t.id and o.state in ('sending', 'ambiguous'))
    for update of p, t
), post as (
    update scheduled_posts set status = 'publishing', version = version + 1, updated_at = clock_timestamp()
    from free where scheduled_posts.post_id = free.post_id
    returning free.target_id, free.post_id, free.workspace_id, free.scheduled_time
), target as (
    update post_targets set status = 'publishing', fence = fence + 1,
        claimed_until = clock_timestamp() + make_interval(secs => @lease_seconds::float8),
        sent_at = clock_timestamp(), updated_at = clock_timestamp()
    from post
    where post_targets.id = post.target_id
    returning post_targets.id, post_targets.fence, post_targets.sent_at, post_targets.claimed_until, post.post_id, post.workspace_id, post.scheduled_time
), operation as (
    insert into operations (id, target_id, segment, revision, epoch, fence, idempotency_key, fingerprint, prepared, state, sent_at)
    select @operation_id, target.id, @segment, @revision, @epoch, target.fence, @idempotency_key, @fingerprint, @prepared, 'sending', target.sent_at
    from target
    returning id
), event as (
    insert into post_events (post_id, workspace_id, target_id, type, actor, data)
    select target.post_id, target.workspace_id, target.id, 'sending', 'dateline',
        jsonb_build_object('epoch', @epoch::int, 'late_ms', round(extract(epoch from target.sent_at - target.scheduled_time) * 1000))
    from target
    returning id
)
select target.id, target.fence, target.sent_at, target.claimed_until, operation.id as operation_id
from target cross join operation;

-- name: OpenOperation :one
-- The newest call whose outcome is not known yet.
select * from operations
where target_id = @target_id and state in ('sending', 'ambiguous')
order by revision desc, epoch desc limit 1;

-- name: LastEpoch :one
select coalesce(max(epoch), 0)::int from operations
where target_id = @target_id and segment = @segment and revision = @revision;

-- name: SetOperationState :exec
-- Only a call whose outcome is open gets one.
update operations set state = @state, finished_at = clock_timestamp(),
    remote_id = coalesce(sqlc.narg('remote_id'), remote_id),
    evidence = evidence || @evidence
where id = @id and state in ('prepared', 'sending', 'ambiguous');

-- name: TakeOverTarget :one
-- A later attempt takes the claim from one whose lease ran out, to find out
-- what became of the call; the earlier holder is fenced off.
update post_targets set fence = fence + 1,
    claimed_until = clock_timestamp() + make_interval(secs => @lease_seconds::float8),
    updated_at = clock_timestamp()
where id = @id and status = 'publishing' and fence = @fence
  and (claimed_until is null or claimed_until < clock_timestamp())
returning *;

-- name: FinishTarget :one
-- Records an outcome, unless somebody else holds the claim by now.
update post_targets set status = @status,
    attempts = attempts + @tries::int,
    claimed_until = null,
    remote_id = coalesce(sqlc.narg('remote_id'), remote_id),
    remote_url = coalesce(sqlc.narg('remote_url'), remote_url),
    error_class = sqlc.narg('error_class'), error_code = sqlc.narg('error_code'), error_message = sqlc.narg('error_message'),
    posted_at = sqlc.narg('posted_at'),
    updated_at = clock_timestamp()
where id = @id and fence = @fence and status in ('scheduled', 'publishing')
returning *;

-- name: RemoteIDsClaimed :many
-- Remote posts that belong to other operations of this account already.
select remote_id::text from post_targets
where account_id = @account_id and remote_id is not null and posted_at > @since;

-- name: RenewClaim :execrows
update post_targets set claimed_until = clock_timestamp() + make_interval(secs => @lease_seconds::float8)
where id = @id and fence = @fence and status = 'publishing';
