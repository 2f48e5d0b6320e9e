-- name: InsertPost :one
-- Inserts the post with its targets and first events: one statement needs a single
-- round trip. An empty override is none, and has no fingerprint. Foreign keys are checked
-- at the end of the statement; the trigger that sets listed_at would not see the post yet.
-- The accounts are in the order of the targets.
with targets as (
    insert into post_targets (id, post_id, account_id, override, fingerprint, listed_at)
    select unnest((select @target_ids::uuid[])), @post_id, unnest((select @account_ids::uuid[])),
      nullif(unnest((select @overrides::text[])), '')::jsonb,
        nullif(unnest((select @fingerprints::bytea[])), ''), coalesce(sqlc.narg('scheduled_time')::timestamptz, now())
), events as (
    insert into post_events (post_id, workspace_id, type, actor, data)
    select @post_id, @workspace_id, unnest((select @event_types::text[])), @actor,
      unnest((select @event_data::text[]))::jsonb
)
insert into scheduled_posts (
    post_id, workspace_id, user_id, content, scheduled_time, time_zone,
    status, attachment_ids, attachment_urls, thread, options, late_limit_minutes, thread_id, thread_parent_id, language,
      link_base,
    queue_group_id, label_ids, utm, approval, submitted_by, submitted_at
) values (
    @post_id, @workspace_id, @user_id, @content, sqlc.narg('scheduled_time'), @time_zone,
    @status, @attachment_ids, @attachment_urls, @thread, @options, sqlc.narg('late_limit_minutes'),
      sqlc.narg('thread_id'), sqlc.narg('thread_parent_id'), @language, sqlc.narg('link_base'),
    sqlc.narg('queue_group_id'), @label_ids, @utm, @approval, case when @approval = 'pending'::approval_state
      then @user_id::uuid end, case when @approval = 'pending'::approval_state then clock_timestamp() end
) returning sqlc.embed(scheduled_posts), (
    select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'target_id', w.target_id, 'network', a.network,
      'handle', a.handle) order by a.created_at, w.target_id), '[]')
    from (
        select unnest((select @account_ids::uuid[])) as account_id, unnest((select @target_ids::uuid[])) as target_id
    ) w join accounts a on a.id = w.account_id
)::jsonb as accounts;

-- name: InsertTargets :exec
-- An empty text is no override and has no fingerprint.
insert into post_targets (id, post_id, account_id, override, fingerprint)
select unnest(@ids::uuid[]), @post_id, unnest(@account_ids::uuid[]), nullif(unnest(@overrides::text[]), '')::jsonb,
    nullif(unnest(@fingerprints::bytea[]), '');

-- name: SetFingerprints :exec
update post_targets t set fingerprint = nullif(w.fingerprint, '')
from (select unnest(@ids::uuid[]) as id, unnest(@fingerprints::bytea[]) as fingerprint) w
where t.id = w.id and t.fingerprint is distinct from nullif(w.fingerprint, '');

-- name: SetOverrides :exec
update post_targets t set override = nullif(w.override, '')::jsonb, updated_at = clock_timestamp()
from (select unnest(@account_ids::uuid[]) as account_id, unnest(@overrides::text[]) as override) w
where t.post_id = @post_id and t.account_id = w.account_id;

-- name: DeleteTargets :exec
delete from post_targets where post_id = @post_id and not account_id = any(@keep_account_ids::uuid[]);

-- name: GetPost :one
select * from scheduled_posts where post_id = @post_id;

-- name: GetPostsWithTargets :many
-- A row for each target, as TargetsOfPosts orders them.
select sqlc.embed(p), sqlc.embed(t), a.network, a.handle
from scheduled_posts p join post_targets t on t.post_id = p.post_id join accounts a on a.id = t.account_id
where p.post_id = any((select @post_ids::uuid[])::uuid[])
order by p.post_id, a.created_at, t.id;

-- name: GetPostInWorkspace :one
select * from scheduled_posts where post_id = @post_id and workspace_id = @workspace_id;

-- name: LockPost :one
-- Foreign keys' checks do not wait for it: a reply that enters a slot may be what the
-- change of its parent waits for.
select * from scheduled_posts where post_id = @post_id for no key update;

-- name: TargetsOfPosts :many
select sqlc.embed(t), a.network, a.handle
from post_targets t join accounts a on a.id = t.account_id
where t.post_id = any((select @post_ids::uuid[])::uuid[])
order by t.post_id, a.created_at, t.id;

-- name: ListPostsAscending :many
select * from scheduled_posts p
where p.workspace_id = @workspace_id
  and (cardinality(@statuses::text[]) = 0 or p.status::text = any(@statuses::text[]))
  and (sqlc.narg('from_time')::timestamptz is null or p.listed_at >= sqlc.narg('from_time'))
  and (sqlc.narg('to_time')::timestamptz is null or p.listed_at < sqlc.narg('to_time'))
  and (sqlc.narg('account_id')::uuid is null or exists (
        select 1 from post_targets t where t.post_id = p.post_id and t.account_id = sqlc.narg('account_id')))
  and (sqlc.narg('series_id')::uuid is null or p.series_id = sqlc.narg('series_id'))
  and (cardinality(@approvals::text[]) = 0 or p.approval::text = any(@approvals::text[]))
  and (sqlc.narg('label_id')::uuid is null or p.label_ids @> array[sqlc.narg('label_id')::uuid])
  and (cardinality(@patterns::text[]) = 0 or p.search_text like all (@patterns::text[]) or concat_ws(' ', p.search_text,
    (
        select fold_text(string_agg(concat_ws(' ', a.handle, a.name, a.label, t.override ->> 'content'), ' '))
        from post_targets t join accounts a on a.id = t.account_id
          where t.post_id = p.post_id)) like all (@patterns::text[]))
  and (sqlc.narg('after_time')::timestamptz is null
       or (p.listed_at, p.post_id) > (sqlc.narg('after_time'), sqlc.narg('after_id')::uuid))
order by p.listed_at, p.post_id
limit @page_size;

-- name: ListPostsDescending :many
select * from scheduled_posts p
where p.workspace_id = @workspace_id
  and (cardinality(@statuses::text[]) = 0 or p.status::text = any(@statuses::text[]))
  and (sqlc.narg('from_time')::timestamptz is null or p.listed_at >= sqlc.narg('from_time'))
  and (sqlc.narg('to_time')::timestamptz is null or p.listed_at < sqlc.narg('to_time'))
  and (sqlc.narg('account_id')::uuid is null or exists (
        select 1 from post_targets t where t.post_id = p.post_id and t.account_id = sqlc.narg('account_id')))
  and (sqlc.narg('series_id')::uuid is null or p.series_id = sqlc.narg('series_id'))
  and (cardinality(@approvals::text[]) = 0 or p.approval::text = any(@approvals::text[]))
  and (sqlc.narg('label_id')::uuid is null or p.label_ids @> array[sqlc.narg('label_id')::uuid])
  and (cardinality(@patterns::text[]) = 0 or p.search_text like all (@patterns::text[]) or concat_ws(' ', p.search_text,
    (
        select fold_text(string_agg(concat_ws(' ', a.handle, a.name, a.label, t.override ->> 'content'), ' '))
        from post_targets t join accounts a on a.id = t.account_id
          where t.post_id = p.post_id)) like all (@patterns::text[]))
  and (sqlc.narg('after_time')::timestamptz is null
       or (p.listed_at, p.post_id) < (sqlc.narg('after_time'), sqlc.narg('after_id')::uuid))
order by p.listed_at desc, p.post_id desc
limit @page_size;

-- name: EditPost :one
-- The guarded edit. if_version 0 means any version. A failed post may be edited if
-- nothing of it is in flight. With needs_approval, a scheduled post is unscheduled and
-- becomes pending.
update scheduled_posts p set
    content         = coalesce(sqlc.narg('content'), content),
    scheduled_time  = coalesce(sqlc.narg('scheduled_time'), scheduled_time),
    time_zone       = coalesce(sqlc.narg('time_zone'), time_zone),
    language        = coalesce(sqlc.narg('language'), language),
    attachment_ids  = coalesce(sqlc.narg('attachment_ids')::uuid[], attachment_ids),
    attachment_urls = coalesce(sqlc.narg('attachment_urls')::text[], attachment_urls),
    thread          = coalesce(sqlc.narg('thread')::jsonb, thread),
    options         = coalesce(sqlc.narg('options')::jsonb, options),
    late_limit_minutes = case when @set_late_limit::bool then sqlc.narg('late_limit_minutes')
      else late_limit_minutes end,
    queue_group_id = case when @set_queue_group::bool then sqlc.narg('queue_group_id')::uuid else queue_group_id end,
    link_base     = case when @set_link_base::bool then sqlc.narg('link_base') else link_base end,
    utm           = coalesce(sqlc.narg('utm')::jsonb, utm),
    platform_media_ids = case when @media_changed::bool then '{}' else platform_media_ids end,
    late_noted_at = case when sqlc.narg('scheduled_time')::timestamptz is null then late_noted_at end,
    status        = case when @needs_approval::bool and status = 'scheduled' then 'draft' else status end,
    approval      = case when @needs_approval::bool and status = 'scheduled' then 'pending' else approval end,
    submitted_by  = case when @needs_approval::bool and status = 'scheduled' then sqlc.narg('submitted_by')::uuid
      else submitted_by end,
    submitted_at  = case when @needs_approval::bool and status = 'scheduled' then clock_timestamp()
      else submitted_at end,
    approval_by   = case when @needs_approval::bool and status = 'scheduled' then null else approval_by end,
    approval_at   = case when @needs_approval::bool and status = 'scheduled' then null else approval_at end,
    approval_note = case when @needs_approval::bool and status = 'scheduled'
                           or approval = 'pending' and sqlc.narg('scheduled_time')::timestamptz is not null then ''
                             else approval_note end,
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where p.post_id = @post_id and p.workspace_id = @workspace_id
  and (p.status in ('draft', 'scheduled')
       or p.status in ('failed', 'partly_posted') and exists (
            select 1 from post_targets t where t.post_id = p.post_id and t.status = 'failed'))
  -- A post with attempts is retried with the edit, so it cannot be pending.
  and (not @needs_approval::bool or p.status in ('draft', 'scheduled') and not exists (
            select 1 from post_targets t where t.post_id = p.post_id and t.status not in ('scheduled', 'canceled')))
  and (@if_version::bigint = 0 or p.version = @if_version)
returning *;

-- name: ScheduleDraft :one
-- The permission for this includes approving a pending post.
update scheduled_posts set status = 'scheduled',
    approval    = case when approval = 'none' then approval else 'approved' end,
    approval_by = case when approval = 'none' then approval_by else sqlc.narg('approver')::uuid end,
    approval_at = case when approval = 'none' then approval_at else clock_timestamp() end,
    approval_note = '',
    queue_group_id = case when @set_queue_group::bool then sqlc.narg('queue_group_id')::uuid else queue_group_id end,
    scheduled_time = coalesce(sqlc.narg('scheduled_time'), scheduled_time), time_zone = coalesce(sqlc.narg('time_zone'),
      time_zone),
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where post_id = @post_id and workspace_id = @workspace_id and status = 'draft'
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: CancelPost :one
update scheduled_posts set status = 'canceled', approval = case when approval = 'pending' then 'none' else approval end,
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where post_id = @post_id and workspace_id = @workspace_id
  and status in ('draft', 'scheduled')
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: LockWaitingPost :one
-- A post that is being published, but of which nothing is in flight: on every
-- account that is still open, the next segment waits for its time. Claims lock the
-- post first, so none can begin meanwhile.
select p.* from scheduled_posts p
where p.post_id = @post_id and p.workspace_id = @workspace_id and p.status = 'publishing'
  and (@if_version::bigint = 0 or p.version = @if_version)
for no key update;

-- name: StopWaitingTargets :execrows
-- What is published stays; the segments that wait are never sent. Nothing is
-- changed while a call of any target is in flight or its outcome is unknown.
update post_targets t set status = 'posted', waits_until = null, claimed_until = null, fence = t.fence + 1,
  updated_at = clock_timestamp(),
    posted_at = (select max(r.posted_at) from remote_posts r where r.target_id = t.id)
where t.post_id = @post_id and t.status = 'publishing' and t.waits_until is not null
  and not exists (
    select 1 from post_targets o
    where o.post_id = @post_id and o.status in ('scheduled', 'publishing', 'uncertain')
      and (o.status <> 'publishing' or o.waits_until is null or o.waits_until <= clock_timestamp()
           or o.claimed_until >= clock_timestamp()
           or exists (select 1 from operations c where c.target_id = o.id and c.state in ('prepared', 'sending',
             'ambiguous'))));

-- name: WaitingTargets :many
-- The accounts on which the next segment waits for its time; none while a call of any
-- target is in flight or its outcome is unknown, as in StopWaitingTargets.
select t.id from post_targets t
where t.post_id = @post_id and t.status = 'publishing' and t.waits_until is not null
  and not exists (
    select 1 from post_targets o
    where o.post_id = @post_id and o.status in ('scheduled', 'publishing', 'uncertain')
      and (o.status <> 'publishing' or o.waits_until is null or o.waits_until <= clock_timestamp()
           or o.claimed_until >= clock_timestamp()
           or exists (select 1 from operations c where c.target_id = o.id and c.state in ('prepared', 'sending',
             'ambiguous'))));

-- name: EditWaitingPost :one
-- Changes what follows the published segments of a thread that waits.
update scheduled_posts set thread = coalesce(sqlc.narg('thread')::jsonb, thread), platform_media_ids = '{}',
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where post_id = @post_id
returning *;

-- name: SetWait :exec
update post_targets set waits_until = sqlc.narg('waits_until'), updated_at = clock_timestamp() where id = @id;

-- name: CancelTargets :exec
update post_targets set status = 'canceled', updated_at = clock_timestamp()
where post_id = @post_id and status in ('scheduled', 'failed');

-- name: PublishNow :one
-- The permission for this includes approving a pending post. A draft was never late,
-- and after a manual request lateness counts from now.
update scheduled_posts set scheduled_time = case when status = 'draft' then clock_timestamp() else least(scheduled_time,
  clock_timestamp()) end,
    status = 'scheduled', redriven_at = clock_timestamp(), queue_group_id = null,
    approval    = case when approval in ('pending', 'rejected') then 'approved' else approval end,
    approval_by = case when approval in ('pending', 'rejected') then sqlc.narg('approver')::uuid else approval_by end,
    approval_at = case when approval in ('pending', 'rejected') then clock_timestamp() else approval_at end,
    approval_note = '',
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where post_id = @post_id and workspace_id = @workspace_id
  and status in ('draft', 'scheduled')
  and (@if_version::bigint = 0 or version = @if_version)
returning *;

-- name: AcknowledgeRevision :one
-- The workflow reports the revision that it acts on; see PostsMissingWorkflow.
update scheduled_posts set workflow_revision = revision where post_id = @post_id returning *;

-- name: AcknowledgeFirst :exec
-- Workflows were started with the first revision of their posts. One that has read a
-- later revision has reported it.
update scheduled_posts set workflow_revision = 1
where post_id = any((select @post_ids::uuid[])::uuid[]) and workflow_revision is null;

-- name: PostsMissingWorkflow :many
-- Posts whose workflow was never notified of the newest revision, or is overdue:
-- Temporal was unavailable or lost its state. A post with dead
-- letters waits in its workflow for 30 days. A caller that starts them passes the last
-- one to continue after it: those just started are still listed.
select p.post_id, p.scheduled_time::timestamptz as scheduled_time, p.revision, p.workflow_revision
from scheduled_posts p
where (p.scheduled_time, p.post_id) > (@after_time::timestamptz, @after_id::uuid)
  and ((p.status in ('scheduled', 'publishing')
       and (   (p.workflow_revision is distinct from p.revision
         and p.updated_at < clock_timestamp() - interval '5 seconds')
            or (p.status = 'scheduled' and p.scheduled_time < clock_timestamp() - interval '10 seconds')
            or (p.status = 'publishing' and p.updated_at < clock_timestamp() - interval '2 minutes'))
       and exists (select 1 from post_targets t where t.post_id = p.post_id and t.status in ('scheduled', 'publishing')
                   and (p.workflow_revision is distinct from p.revision or t.waits_until is null
                     or t.waits_until < clock_timestamp() - interval '2 minutes')))
   or (p.workflow_revision is distinct from p.revision
       and p.post_id in (select t.post_id from post_targets t
                         where t.status in ('failed', 'uncertain')
                           and t.updated_at > clock_timestamp() - interval '30 days'
                           and t.updated_at < clock_timestamp() - interval '5 seconds')))
order by p.scheduled_time, p.post_id
limit @batch;

-- name: ForgetWorkflows :execrows
update scheduled_posts set workflow_revision = null
where workflow_revision is not null
  and (status in ('scheduled', 'publishing')
       or post_id in (select t.post_id from post_targets t
                      where t.status in ('failed', 'uncertain')
                        and t.updated_at > clock_timestamp() - interval '30 days'));

-- name: MarkLatePosts :many
-- Records once for every overdue post that it is late.
with late as (
    update scheduled_posts set late_noted_at = clock_timestamp()
    where post_id in (
        select p.post_id from scheduled_posts p
        where p.status in ('scheduled', 'publishing') and p.late_noted_at is null
          and greatest(p.scheduled_time,
            p.redriven_at) < clock_timestamp() - make_interval(secs => @after_seconds::float8)
          and exists (select 1 from post_targets t where t.post_id = p.post_id and t.status in ('scheduled',
            'publishing')
                      and (t.waits_until is null or t.waits_until < clock_timestamp() -
                        make_interval(secs => @after_seconds::float8)))
        order by p.scheduled_time limit @batch
        for update skip locked)
    returning post_id, workspace_id, greatest(scheduled_time, redriven_at) as since, late_noted_at
)
insert into post_events (post_id, workspace_id, type, actor, data)
select late.post_id, late.workspace_id, 'late', 'dateline',
    jsonb_build_object('seconds', round(extract(epoch from late.late_noted_at - late.since)))
from late returning post_id::uuid as post_id;

-- name: SetPlatformMedia :exec
update scheduled_posts set platform_media_ids = platform_media_ids || jsonb_build_object(@account_id::text,
  @handles::jsonb)
where post_id = @post_id and revision = @revision;

-- name: RemoteIDOnAccount :one
-- The target of a reply: the last segment of the parent's post on the same account.
select t.status, coalesce((select r.remote_id from remote_posts r where r.target_id = t.id order by r.segment desc
  limit 1), '')::text as remote_id
from post_targets t
where t.post_id = @post_id and t.account_id = @account_id;

-- name: CountDue :one
-- The number of posts due in a time window, up to a limit that is cheap to count.
select count(*) from (
    select 1 from scheduled_posts
    where status = 'scheduled' and scheduled_time >= @from_time and scheduled_time < @to_time
    limit @most
) due;

-- name: CountPlanned :one
-- The number of calls for an account's posts in a time window, one for each segment of
-- a thread, counting a limited number of posts. "offset 0" makes the planner keep this
-- order and use the index on account and time, whatever its statistics: with statistics
-- from before a burst, the cost was quadratic in the number of posts.
select coalesce(sum(calls), 0)::bigint as calls from (
    select 1 + jsonb_array_length(coalesce(t.override -> 'thread', p.thread)) as calls
    from (
        select o.post_id, o.override, o.status from post_targets o
        where o.account_id = @account_id and o.listed_at >= @from_time and o.listed_at < @to_time
        order by o.listed_at, o.post_id offset 0
    ) t cross join lateral (
        select s.thread, s.status, s.workspace_id from scheduled_posts s where s.post_id = t.post_id offset 0
    ) p
    where t.status = 'scheduled' and p.status = 'scheduled' and p.workspace_id = @workspace_id::uuid
    limit @most
) planned;

-- name: NearbyPosts :many
-- Other posts on an account, near each of the given spots: the newest one with the same
-- words, and the first one that is close in time. An empty fingerprint has no words.
-- For "offset 0" see CountPlanned. The arrays are in subqueries because the planner
-- sees the lengths of bare parameters, finds each plan for a known length cheaper than
-- one for any length, and plans again each time, which takes longer than the query.
select w.n::int as n, near.same::boolean as same, near.post_id::uuid as post_id, near.at::timestamptz as at,
  near.published::boolean as published
from (
    select unnest((select @ns::int[])) as n, unnest((select @post_ids::uuid[])) as post_id,
      unnest((select @series_ids::uuid[])) as series_id,
        unnest((select @account_ids::uuid[])) as account_id, unnest((select @ats::timestamptz[])) as at,
          unnest((select @fingerprints::bytea[])) as fingerprint
) w cross join lateral (
    (select true as same, t.post_id, coalesce(t.posted_at, p.scheduled_time) as at, t.status = 'posted' as published
     from (
        select o.id, o.post_id, o.posted_at, o.status from post_targets o
        where o.account_id = w.account_id and o.fingerprint = w.fingerprint and w.fingerprint <> ''
          and o.post_id <> w.post_id
        order by o.id desc offset 0
     ) t cross join lateral (
        select s.scheduled_time from scheduled_posts s
        where s.post_id = t.post_id and s.workspace_id = @workspace_id
          and (s.status <> 'draft' or s.approval = 'pending')
          and (s.series_id is null or s.series_id <> w.series_id) offset 0
     ) p
     where t.status in ('scheduled', 'publishing', 'posted', 'uncertain')
       and coalesce(t.posted_at, p.scheduled_time) between w.at - make_interval(secs => @same_seconds::float8)
         and w.at + make_interval(secs => @same_seconds::float8)
     order by t.id desc limit 1)
    union all
    (select false, t.post_id, t.planned_at, t.status = 'posted'
     from (
        select o.post_id, o.listed_at as planned_at, o.status from post_targets o
        where o.account_id = w.account_id
          and o.listed_at > w.at - make_interval(secs => @near_seconds::float8)
            and o.listed_at < w.at + make_interval(secs => @near_seconds::float8)
          and o.post_id <> w.post_id
        order by o.listed_at, o.post_id offset 0
     ) t cross join lateral (
        select s.status, s.approval, s.workspace_id from scheduled_posts s where s.post_id = t.post_id offset 0
     ) p
     where t.status in ('scheduled', 'publishing', 'posted', 'uncertain') and p.workspace_id = @workspace_id::uuid
       and (p.status <> 'draft' or p.approval = 'pending')
     order by t.planned_at, t.post_id limit 1)
) near
order by n, same desc;

-- name: ForgetDeliveryWorkflows :exec
update webhook_deliveries set has_workflow = false, signaled_at = null where status = 'pending' and has_workflow;
