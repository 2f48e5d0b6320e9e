-- name: InsertWebhook :one
insert into webhook_endpoints (id, workspace_id, url, description, types)
select @id, @workspace_id, @url, @description, @types::text[]
where (select count(*) from webhook_endpoints w where w.workspace_id = @workspace_id) < @max_count::int
returning *;

-- name: InsertWebhookSecret :exec
insert into webhook_secrets (id, endpoint_id, secret) values (@id, @endpoint_id, @secret);

-- name: ListWebhooks :many
select * from webhook_endpoints where workspace_id = @workspace_id order by created_at, id;

-- name: GetWebhook :one
select * from webhook_endpoints where id = @id and workspace_id = @workspace_id;

-- name: UpdateWebhook :one
update webhook_endpoints set url = @url, description = @description, types = @types::text[],
    status = @status, disabled_reason = @disabled_reason, failing_since = sqlc.narg('failing_since'),
      updated_at = clock_timestamp()
where id = @id
returning *;

-- name: DeleteWebhook :exec
delete from webhook_endpoints where id = @id;

-- name: LockWebhook :one
select * from webhook_endpoints where id = @id and workspace_id = @workspace_id for update;

-- name: RetireWebhookSecret :exec
update webhook_secrets set expires_at = clock_timestamp() + make_interval(secs => @overlap_seconds::float8)
where endpoint_id = @endpoint_id and expires_at is null;

-- name: DropWebhookSecrets :exec
delete from webhook_secrets where endpoint_id = @endpoint_id and expires_at < clock_timestamp();

-- name: WebhookSecrets :many
-- Newest first.
select * from webhook_secrets
where endpoint_id = @endpoint_id and (expires_at is null or expires_at > clock_timestamp())
order by created_at desc, id desc;

-- name: EnabledWebhooks :many
select * from webhook_endpoints where workspace_id = any(@workspace_ids::uuid[]) and status = 'enabled'
order by id for share;

-- name: PendingWebhookWork :one
-- Whether there are events to dispatch or deliveries to start. Polled, so it must be cheap.
select exists (
        select 1 from post_events e
        where (e.tx, e.id) > (select c.tx, c.event_id from webhook_cursor c)
          and e.type in ('posted', 'failed', 'uncertain', 'differs', 'late', 'needs_reconnect', 'expiring', 'submitted',
            'approved', 'rejected', 'selectors_learned', 'selectors_rolled_back', 'selectors_failed', 'article_matched',
            'story_missed', 'site_spike', 'site_drop', 'system_trouble', 'system_recovered', 'rule_paused',
            'page_changed'))::boolean as events,
    exists (
        select 1 from webhook_deliveries d
        where d.status = 'pending' and d.due_at <= clock_timestamp()
          and (not d.has_workflow or d.due_at < clock_timestamp() -
            make_interval(secs => @overdue_seconds::float8)))::boolean as deliveries;

-- name: LockWebhookCursor :one
-- Serializes dispatchers; returns no row if another one holds the lock.
select tx, event_id from webhook_cursor for update skip locked;

-- name: DueEvents :many
-- Events after the cursor whose transactions are visible (see WorkspaceEvents), with the
-- fields of the payload. The types are those of post_events_outcomes.
select e.id, e.tx, e.workspace_id, e.post_id, e.target_id, e.type, e.actor, e.data, e.at,
    coalesce(e.account_id, t.account_id, '00000000-0000-0000-0000-000000000000')::uuid as account_id,
    coalesce(a.network, '')::text as network, coalesce(a.handle, '')::text as handle,
    coalesce(t.remote_url, '')::text as remote_url, t.sent_at, p.scheduled_time, p.user_id as author_id
from post_events e
left join post_targets t on t.id = e.target_id
left join scheduled_posts p on p.post_id = e.post_id
left join accounts a on a.id = coalesce(e.account_id, t.account_id)
where (e.tx, e.id) > (@after_tx::xid8, @after_id::bigint)
  and e.tx < pg_snapshot_xmin(pg_current_snapshot())
  and e.type in ('posted', 'failed', 'uncertain', 'differs', 'late', 'needs_reconnect', 'expiring', 'submitted',
    'approved', 'rejected', 'selectors_learned', 'selectors_rolled_back', 'selectors_failed', 'article_matched',
    'story_missed', 'site_spike', 'site_drop', 'system_trouble', 'system_recovered', 'rule_paused', 'page_changed')
order by e.tx, e.id limit @page_size;

-- name: MoveWebhookCursor :exec
update webhook_cursor set tx = @tx, event_id = @event_id;

-- name: InsertDeliveries :exec
insert into webhook_deliveries (id, endpoint_id, event_id, type, body)
select unnest(@ids::uuid[]), unnest(@endpoint_ids::uuid[]), unnest(@event_ids::bigint[]), unnest(@types::text[]),
  unnest(@bodies::text[])
on conflict (event_id, endpoint_id) do nothing;

-- name: InsertTestDelivery :one
insert into webhook_deliveries (id, endpoint_id, type, body) values (@id, @endpoint_id::uuid, @type, @body)
returning *;

-- name: DeliveriesToStart :many
-- Deliveries without a workflow, or whose attempt is overdue. Each is returned to one
-- dispatcher at a time. The attempts in flight per endpoint or channel are limited, so
-- that a slow one does not fill the queue.
with waiting as (
    select u.id, u.signaled_at, coalesce(u.endpoint_id, u.channel_id) as receiver_id,
        row_number() over (partition by coalesce(u.endpoint_id, u.channel_id) order by u.id) as place
    from webhook_deliveries u where u.status = 'pending' and not u.has_workflow
), busy as (
    select coalesce(u.endpoint_id, u.channel_id) as receiver_id, count(*) as in_flight from webhook_deliveries u
    where u.status = 'pending' and u.has_workflow and u.due_at <= clock_timestamp()
    group by coalesce(u.endpoint_id, u.channel_id)
), fresh as (
    select f.id from waiting f left join busy on busy.receiver_id = f.receiver_id
    where f.place + coalesce(busy.in_flight, 0) <= @per_endpoint::bigint
      and (f.signaled_at is null or f.signaled_at < clock_timestamp() - make_interval(secs => @retry_seconds::float8))
    order by f.id limit @max_count
), overdue as (
    select d.id from webhook_deliveries d
    where d.status = 'pending' and d.has_workflow
      and d.due_at < clock_timestamp() - make_interval(secs => @overdue_seconds::float8)
      and (d.signaled_at is null or d.signaled_at < clock_timestamp() - make_interval(secs => @overdue_seconds::float8))
    order by d.due_at limit @max_count
)
update webhook_deliveries set signaled_at = clock_timestamp()
where webhook_deliveries.id in (
    select l.id from webhook_deliveries l
    where l.id in (select fresh.id from fresh union all select overdue.id from overdue) and l.status = 'pending'
    for update skip locked)
returning webhook_deliveries.id;

-- name: DeliveryStarted :exec
update webhook_deliveries set has_workflow = true where id = @id and status = 'pending';

-- name: DeliveryForAttempt :one
select d.id, d.endpoint_id, d.channel_id, d.event_id, d.type, d.body, d.status, d.attempts, d.retries, d.due_at,
    coalesce(w.url, '')::text as url, (coalesce(w.status, c.status) = 'enabled')::boolean as enabled,
    greatest(extract(epoch from d.due_at - clock_timestamp()), 0)::float8 as due_in
from webhook_deliveries d
left join webhook_endpoints w on w.id = d.endpoint_id
left join notification_channels c on c.id = d.channel_id
where d.id = @id;

-- name: RecordAttempt :execrows
-- Ignored if another attempt was recorded since the row was read.
update webhook_deliveries set
    status = @status, attempts = attempts + @sent::int, retries = retries + @sent::int,
    due_at = case when @status::delivery_status = 'pending'
      then clock_timestamp() + make_interval(secs => @retry_seconds::float8) else due_at end,
    response_status = sqlc.narg('response_status'), response_body = @response_body, last_error = @last_error,
    attempted_at = case when @sent::int > 0 then clock_timestamp() else attempted_at end,
    delivered_at = case when @status::delivery_status = 'delivered' then clock_timestamp() end
where id = @id and status = 'pending' and attempts = @attempts_before;

-- name: PostponeDelivery :exec
update webhook_deliveries set due_at = clock_timestamp() + make_interval(secs => @retry_seconds::float8)
where id = @id and status = 'pending';

-- name: WebhookSucceeded :exec
update webhook_endpoints set failing_since = null where id = @id and failing_since is not null;

-- name: WebhookFailed :exec
update webhook_endpoints set failing_since = clock_timestamp() where id = @id and failing_since is null;

-- name: DisableWebhook :execrows
-- gone: immediately; failing: after @after_seconds without success. Also inserts the event.
with disabled as (
    update webhook_endpoints w set status = 'disabled', disabled_reason = @reason, updated_at = clock_timestamp()
    where w.id = @id and w.status = 'enabled'
      and (@reason::text = 'gone' or w.failing_since < clock_timestamp() -
        make_interval(secs => @after_seconds::float8))
    returning w.id, w.workspace_id
)
insert into post_events (workspace_id, type, actor, data)
select disabled.workspace_id, 'webhook_disabled', 'dateline', jsonb_build_object('webhook_id', disabled.id, 'reason',
  @reason::text) from disabled;

-- name: ListDeliveries :many
select d.* from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
where d.endpoint_id = @endpoint_id::uuid and w.workspace_id = @workspace_id
  and (sqlc.narg('status')::delivery_status is null or d.status = sqlc.narg('status'))
  and (sqlc.narg('before')::uuid is null or d.id < sqlc.narg('before'))
order by d.id desc limit @page_size;

-- name: GetDelivery :one
select d.* from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
where d.id = @id and d.endpoint_id = @endpoint_id::uuid and w.workspace_id = @workspace_id;

-- name: RedeliverOne :one
-- Also makes a pending delivery due immediately.
update webhook_deliveries d set status = 'pending', retries = 0, due_at = clock_timestamp(), has_workflow = false,
  signaled_at = null, delivered_at = null
from webhook_endpoints w
where d.id = @id and d.endpoint_id = @endpoint_id::uuid and w.id = d.endpoint_id and w.workspace_id = @workspace_id
  and w.status = 'enabled'
returning d.*;

-- name: RedeliverDead :execrows
update webhook_deliveries d set status = 'pending', retries = 0, due_at = clock_timestamp(), has_workflow = false,
  signaled_at = null
from webhook_endpoints w
where d.endpoint_id = @endpoint_id::uuid and d.status = 'dead' and w.id = d.endpoint_id
  and w.workspace_id = @workspace_id and w.status = 'enabled';

-- name: PruneDeliveries :execrows
delete from webhook_deliveries where id in (
    select d.id from webhook_deliveries d
    where d.status = 'delivered' and d.delivered_at < clock_timestamp() - make_interval(days => @retention_days::int)
    limit @max_count);

-- name: HasLaterEvents :one
-- True after the database was restored from a dump into a server that has run fewer
-- transactions.
select (exists (select 1 from webhook_cursor c where c.tx > pg_snapshot_xmax(pg_current_snapshot()))
    or exists (select 1 from post_events e where e.tx > pg_snapshot_xmax(pg_current_snapshot())
               and e.type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect', 'expiring', 'submitted',
                 'approved', 'rejected', 'selectors_learned', 'selectors_rolled_back', 'selectors_failed',
                 'article_matched', 'story_missed', 'site_spike', 'site_drop', 'system_trouble', 'system_recovered',
                 'rule_paused', 'page_changed')))::boolean as restored;

-- name: RestartCursor :exec
-- Moves back to the first event that may not have been dispatched. Events that are
-- dispatched again find their existing delivery.
update webhook_cursor c set tx = '0', event_id = least(c.event_id,
    (select min(e.id) - 1 from post_events e where (e.tx, e.id) > (c.tx, c.event_id)));

-- name: RestartEvents :exec
-- All stored events are complete, whatever transaction wrote them on another server.
update post_events set tx = '0' where tx > pg_snapshot_xmax(pg_current_snapshot());
