-- name: OpenOperation :one
-- The newest call with an unknown outcome.
select * from operations
where target_id = @target_id and state in ('sending', 'ambiguous')
order by revision desc, epoch desc limit 1;

-- name: LastEpoch :one
select coalesce(max(epoch), 0)::int from operations
where target_id = @target_id and segment = @segment and revision = @revision;

-- name: SetOperationState :exec
-- Only an open call gets a state.
update operations set state = @state, finished_at = clock_timestamp(),
    remote_id = coalesce(sqlc.narg('remote_id'), remote_id),
    evidence = evidence || @evidence
where id = @id and state in ('prepared', 'sending', 'ambiguous');

-- name: TakeOverTarget :one
-- A later attempt takes over an expired claim to determine the outcome of the call; the
-- fencing number excludes the previous holder. Lock the target first: only then does
-- this statement see whether the holder has settled the call since.
update post_targets set fence = fence + 1,
    claimed_until = clock_timestamp() + make_interval(secs => @lease_seconds::float8),
    updated_at = clock_timestamp()
where post_targets.id = @id and status = 'publishing' and post_targets.fence = @fence
  and (claimed_until is null or claimed_until < clock_timestamp())
  and exists (select 1 from operations o where o.id = @operation_id and o.target_id = post_targets.id
    and o.state in ('sending', 'ambiguous'))
returning *;

-- name: LockTarget :exec
select 1 from post_targets where id = @id for update;

-- name: FinishTarget :one
-- Records an outcome, unless another attempt holds the claim now. Each segment has its
-- own attempts.
update post_targets set status = @status,
    attempts = case when @next_segment::bool then 0 else attempts + @tries::int end,
    claimed_until = null,
    remote_id = coalesce(sqlc.narg('remote_id'), remote_id),
    remote_url = coalesce(sqlc.narg('remote_url'), remote_url),
    error_class = sqlc.narg('error_class'), error_code = sqlc.narg('error_code'),
      error_message = sqlc.narg('error_message'),
    sent_at = coalesce(sqlc.narg('sent_at'), sent_at), posted_at = sqlc.narg('posted_at'),
      waits_until = sqlc.narg('waits_until'),
    differences = differences || @differences::jsonb, needs_review = needs_review or @needs_review::bool,
    updated_at = clock_timestamp()
where id = @id and fence = @fence and status in ('scheduled', 'publishing')
returning *;

-- name: RemoteIDsClaimed :many
-- Remote posts that already belong to other operations of this account.
select remote_id from remote_posts where account_id = @account_id and posted_at > @since;

-- name: SimilarCalls :one
-- The data about the account for a search for a lost post, in one snapshot: between
-- separate reads, a post could be assigned to another call.
select
    array(select r.remote_id from remote_posts r where r.account_id = @account_id and r.posted_at > @since)::text[]
      as known,
    coalesce((
        select jsonb_agg(jsonb_build_object('id', o.id, 'fingerprint', encode(o.fingerprint, 'hex'), 'state', o.state,
          'sent_at', o.sent_at)
            order by o.sent_at, o.id)
        from operations o join post_targets t on t.id = o.target_id
        where o.content_key = @content_key and t.account_id = @account_id
          and (o.state in ('sending', 'ambiguous') or o.state = 'manual' and o.sent_at > @since
            and not o.evidence ? 'decided_by')
    ), '[]')::jsonb as calls,
    (
        select count(*) from operations o join post_targets t on t.id = o.target_id
        where t.account_id = @account_id and o.id <> @operation_id
          -- A response that was just lost will be searched for.
          and (o.state = 'sending' or o.state = 'ambiguous'
            and o.finished_at > clock_timestamp() - interval '30 seconds')
    )::int as in_flight;

-- name: InsertRemotePosts :many
-- An outcome that was reported twice does not change.
insert into remote_posts (account_id, remote_id, target_id, segment, remote_url, sent_at, posted_at)
select t.account_id, w.remote_id, t.id, w.segment, nullif(w.remote_url, ''), w.sent_at, w.posted_at
from (
    select unnest((select @target_ids::uuid[])) as target_id, unnest((select @segments::int[])) as segment,
      unnest((select @remote_ids::text[])) as remote_id,
        unnest((select @remote_urls::text[])) as remote_url, unnest((select @sent_ats::timestamptz[])) as sent_at,
          unnest((select @posted_ats::timestamptz[])) as posted_at
) w join post_targets t on t.id = w.target_id
on conflict do nothing
returning target_id;

-- name: PublishedSegments :many
select segment, remote_id, remote_url, sent_at, posted_at from remote_posts where target_id = @target_id
  order by segment;

-- name: PublishedOfPosts :many
select r.* from remote_posts r join post_targets t on t.id = r.target_id
where t.post_id = any(@post_ids::uuid[]) order by r.target_id, r.segment;

-- name: CountUnresolvedSends :one
-- Sends of a segment without a reliable response. Sends that a person has decided on no
-- longer count.
select count(*) from operations
where target_id = @target_id and segment = @segment and revision = @revision
  and state in ('ambiguous', 'reconciled_absent', 'manual') and not evidence ? 'decided_by';

-- name: RenewClaim :execrows
update post_targets set claimed_until = clock_timestamp() + make_interval(secs => @lease_seconds::float8)
where id = @id and fence = @fence and status = 'publishing';

-- name: ClaimTargets :many
-- The arrays of this and the following statements are in subqueries so that the planner
-- does not plan again for each length, see NearbyPosts.
-- The last check before the network: the caller that gets a row may send once, with
-- this fencing number and until claimed_until. The ledger row is inserted with it.
-- Posts are locked in the order of their ids, so that batches do not deadlock. A claim
-- may be made shortly before its post's time, which is then the planned time of the
-- call.
with want as (
    select unnest((select @target_ids::uuid[])) as target_id, unnest((select @post_ids::uuid[])) as post_id,
        unnest((select @segments::int[])) as segment, unnest((select @revisions::bigint[])) as revision,
          unnest((select @operation_ids::uuid[])) as operation_id,
        unnest((select @epochs::int[])) as epoch, unnest((select @idempotency_keys::text[])) as idempotency_key,
        unnest((select @fingerprints::bytea[])) as fingerprint, unnest((select @content_keys::bytea[])) as content_key,
          unnest((select @prepared::text[])) as prepared
), locked as (
    select p.post_id, p.workspace_id, p.scheduled_time, p.revision
    from (select distinct unnest((select @post_ids::uuid[])) as post_id order by 1) w
    cross join lateral (
        select s.post_id, s.workspace_id, s.scheduled_time, s.revision from scheduled_posts s
        where s.post_id = w.post_id and s.status in ('scheduled', 'publishing')
        for no key update
    ) p
), free as (
    select t.id as target_id, l.post_id, l.workspace_id, greatest(clock_timestamp(), l.scheduled_time) as planned,
        w.segment, w.revision, w.operation_id, w.epoch, w.idempotency_key, w.fingerprint, w.content_key, w.prepared
    from want w
    join locked l on l.post_id = w.post_id and l.revision = w.revision
    cross join lateral (
        select c.id from post_targets c
        where c.id = w.target_id and c.post_id = l.post_id and c.status in ('scheduled', 'publishing')
          and (c.claimed_until is null or c.claimed_until < clock_timestamp())
        offset 0
    ) t
    -- Scalar subqueries, and not "not exists", which the planner would turn into joins
    -- with all open calls and all published segments.
    -- A call with an unknown outcome is resolved before anything is sent.
    where (select true from operations o where o.target_id = t.id and o.state in ('sending', 'ambiguous') limit 1) is null
      -- Nor is anything sent that another attempt has published since.
      and (select true from remote_posts r where r.target_id = t.id and r.segment = w.segment limit 1) is null
      -- Another attempt has inserted this call since: not an error, which would fail
      -- the claims of the whole burst.
      and (select true from operations o where o.target_id = t.id and o.segment = w.segment
        and o.revision = w.revision and o.epoch = w.epoch limit 1) is null
), post as (
    update scheduled_posts set status = 'publishing', version = version + 1, updated_at = clock_timestamp()
    where scheduled_posts.post_id in (select free.post_id from free)
), target as (
    update post_targets set status = 'publishing', fence = fence + 1,
        claimed_until = clock_timestamp() + make_interval(secs => @lease_seconds::float8),
        sent_at = case when free.segment = 0 then free.planned else post_targets.sent_at end,
          updated_at = clock_timestamp()
    from free
    where post_targets.id = free.target_id
      -- Repeated because Postgres rechecks only these conditions for a row that
      -- was locked meanwhile.
      and post_targets.status in ('scheduled', 'publishing')
      and (post_targets.claimed_until is null or post_targets.claimed_until < clock_timestamp())
    returning post_targets.id, post_targets.fence, free.planned, post_targets.claimed_until, free.post_id,
      free.workspace_id,
        free.segment, free.revision, free.operation_id, free.epoch, free.idempotency_key, free.fingerprint,
          free.content_key, free.prepared
), operation as (
    insert into operations (id, target_id, segment, revision, epoch, fence, idempotency_key, fingerprint, content_key,
      prepared, state, sent_at)
    select target.operation_id, target.id, target.segment, target.revision, target.epoch, target.fence,
      target.idempotency_key, target.fingerprint, target.content_key, target.prepared::jsonb, 'sending', target.planned
    from target
), event as (
    insert into post_events (post_id, workspace_id, target_id, type, actor, data)
    select target.post_id, target.workspace_id, target.id, 'sending', 'dateline',
        jsonb_build_object('epoch', target.epoch, 'segment', target.segment, 'planned', target.planned)
    from target
)
select target.id, target.operation_id::uuid as operation_id, target.fence, target.planned::timestamptz as sent_at,
  target.claimed_until from target;

-- name: RecordPosted :many
-- Records that targets were posted, in target, ledger, post and timeline, unless another
-- attempt holds the claim now or the post has changed. Returns the recorded ones.
-- Posts are locked in the order of their ids, see ClaimTargets. The rows of a statement
-- are those at its beginning, but locking one returns its newest version: all targets of
-- the locked posts are locked too, so that the last of them to end sees how the others have.
with want as (
    select unnest((select @target_ids::uuid[])) as target_id, unnest((select @post_ids::uuid[])) as post_id,
        unnest((select @revisions::bigint[])) as revision, unnest((select @fences::bigint[])) as fence,
        unnest((select @operation_ids::uuid[])) as operation_id, unnest((select @remote_ids::text[])) as remote_id,
        unnest((select @remote_urls::text[])) as remote_url, unnest((select @sent_ats::timestamptz[])) as sent_at,
        unnest((select @posted_ats::timestamptz[])) as posted_at, unnest((select @evidence::text[])) as evidence,
        unnest((select @data::text[])) as data
), locked as (
    select p.post_id, p.workspace_id, p.status, p.revision
    from (select distinct unnest((select @post_ids::uuid[])) as post_id order by 1) w
    cross join lateral (
        select s.post_id, s.workspace_id, s.status, s.revision from scheduled_posts s where s.post_id = w.post_id
        for no key update
    ) p
), current as (
    select t.id, t.post_id, t.status, t.posted_at
    from locked l cross join lateral (
        select o.id, o.post_id, o.status, o.posted_at from post_targets o where o.post_id = l.post_id
        for no key update
    ) t
), finished as (
    update post_targets t set status = 'posted', attempts = t.attempts + 1, claimed_until = null,
        remote_id = w.remote_id, remote_url = w.remote_url,
        error_class = null, error_code = null, error_message = null,
        sent_at = w.sent_at, posted_at = w.posted_at, updated_at = clock_timestamp()
    from want w join locked l on l.post_id = w.post_id and l.revision = w.revision join current c on c.id = w.target_id
    where t.id = c.id and t.fence = w.fence and t.status in ('scheduled', 'publishing')
    returning t.id, t.post_id, t.account_id, t.sent_at, t.posted_at, t.remote_id, t.remote_url, l.workspace_id,
        w.operation_id, w.evidence, w.data
), operation as (
    update operations o set state = 'accepted', finished_at = clock_timestamp(), remote_id = f.remote_id,
        evidence = o.evidence || f.evidence::jsonb
    from finished f
    where o.id = f.operation_id and o.state in ('prepared', 'sending', 'ambiguous')
), remote as (
    insert into remote_posts (account_id, remote_id, target_id, segment, remote_url, sent_at, posted_at)
    select f.account_id, f.remote_id, f.id, 0, nullif(f.remote_url, ''), f.sent_at, f.posted_at from finished f
    on conflict do nothing -- an outcome that was reported twice does not change
), rolled as (
    update scheduled_posts p set status = r.status, posted_at = coalesce(p.posted_at, r.posted_at),
        version = p.version + 1, updated_at = clock_timestamp()
    from (
        select t.post_id, case
            when bool_or(t.status in ('scheduled', 'publishing', 'uncertain')) then 'publishing'
            when bool_and(t.status = 'posted') then 'posted'
            else 'partly_posted' end::post_status as status,
            case when bool_or(t.status in ('scheduled', 'publishing', 'uncertain')) then null
                 else max(t.posted_at) end as posted_at
        from (
            select c.post_id, case when f.id is null then c.status else 'posted' end as status,
                coalesce(f.posted_at, c.posted_at) as posted_at, f.id is not null as is_finished
            from current c left join finished f on f.id = c.id
        ) t
        group by t.post_id having bool_or(t.is_finished)
    ) r
    where p.post_id = r.post_id
    returning p.post_id, p.workspace_id, p.status
), event as (
    insert into post_events (post_id, workspace_id, target_id, type, actor, data)
    select e.post_id, e.workspace_id, e.target_id, e.type, 'dateline', e.data from (
        select f.post_id, f.workspace_id, f.id as target_id, 'posted' as type, f.data::jsonb as data from finished f
        union all
        select r.post_id, r.workspace_id, null, 'status', jsonb_build_object('status', r.status)
        from rolled r join locked l on l.post_id = r.post_id
        where r.status <> l.status and r.status <> 'publishing'
    ) e order by e.target_id is null
)
select finished.operation_id::uuid as operation_id from finished;

-- name: RollUpPosts :many
-- A post's status is derived from its targets'.
update scheduled_posts p set
    status = case when s.untouched then p.status else s.status end, posted_at = coalesce(p.posted_at, s.posted_at),
    retry_count = p.retry_count + @retries,
    version = p.version + 1, updated_at = clock_timestamp()
from (
    select t.post_id, case
        when bool_or(t.status in ('scheduled', 'publishing', 'uncertain')) then 'publishing'
        when bool_and(t.status = 'posted') then 'posted'
        when bool_or(t.status = 'posted') then 'partly_posted'
        when bool_and(t.status = 'canceled') then 'canceled'
        else 'failed' end::post_status as status,
        case when bool_or(t.status in ('scheduled', 'publishing', 'uncertain')) then null
             else max(t.posted_at) end as posted_at,
        bool_and(t.status in ('scheduled', 'canceled')) and bool_or(t.status = 'scheduled') as untouched
    from post_targets t where t.post_id = any((select @post_ids::uuid[])::uuid[])
    group by t.post_id
) s
where p.post_id = s.post_id
returning p.*;
