-- name: InsertChannel :one
-- No row: the member has too many.
insert into notification_channels (id, workspace_id, user_id, kind, name, destination, hint, types, own_posts_only,
  digest, quiet_from, quiet_to, time_zone, language)
select @id, @workspace_id, @user_id, @kind, @name, @destination, @hint, @types::text[], @own_posts_only, @digest,
  sqlc.narg('quiet_from')::int, sqlc.narg('quiet_to')::int, @time_zone, @language
where (select count(*) from notification_channels c where c.workspace_id = @workspace_id
  and c.user_id = @user_id) < @max_channels::int
returning *;

-- name: ListChannels :many
-- With the newest delivery of each.
select sqlc.embed(c), coalesce(d.status::text, '')::text as last_status, coalesce(d.last_error, 'null')::jsonb
  as last_error, coalesce(d.created_at, 'epoch')::timestamptz as last_created_at,
    (select count(*) from webhook_deliveries x where x.channel_id = c.id and x.status = 'dead') as dead
from notification_channels c
left join lateral (select * from webhook_deliveries m where m.channel_id = c.id and m.body <> '' order by m.id desc
  limit 1) d on true
where c.workspace_id = @workspace_id and c.user_id = @user_id
order by c.created_at, c.id;

-- name: GetChannel :one
select * from notification_channels where id = @id;

-- name: LockChannel :one
select * from notification_channels where id = @id and workspace_id = @workspace_id and user_id = @user_id for update;

-- name: UpdateChannel :one
update notification_channels set name = @name, destination = @destination, hint = @hint, types = @types::text[],
  own_posts_only = @own_posts_only, digest = @digest,
    quiet_from = sqlc.narg('quiet_from'), quiet_to = sqlc.narg('quiet_to'), time_zone = @time_zone,
      language = @language,
    status = @status, disabled_reason = @disabled_reason, confirmed_at = sqlc.narg('confirmed_at'),
      failing_since = sqlc.narg('failing_since'), updated_at = clock_timestamp()
where id = @id
returning *;

-- name: DeleteChannel :exec
delete from notification_channels where id = @id;

-- name: UnsubscribeChannel :execrows
update notification_channels set status = 'disabled', disabled_reason = 'unsubscribed', updated_at = clock_timestamp()
  where id = @id and status = 'enabled';

-- name: ConfirmChannel :execrows
update notification_channels set confirmed_at = clock_timestamp(), updated_at = clock_timestamp() where id = @id
  and hint = @recipient and kind = 'email' and confirmed_at is null;

-- name: GetPushKey :one
select public_key, private_key from push_keys;

-- name: InsertPushKey :exec
insert into push_keys (public_key, private_key) values (@public_key, @private_key) on conflict do nothing;

-- name: EnabledChannels :many
-- Viewers and authors do not see the state of the installation.
select sqlc.embed(c), (m.role in ('owner', 'editor'))::boolean as sees_system
from notification_channels c join members m on m.workspace_id = c.workspace_id and m.user_id = c.user_id
where c.workspace_id = any(@workspace_ids::uuid[]) and c.status = 'enabled'
order by c.id for share of c;

-- name: NotifiedEvents :many
select event_id from notification_items where channel_id = @channel_id and event_id = any(@event_ids::bigint[]);

-- name: CollectingNotification :one
-- The notification of a channel that still collects events.
select id from webhook_deliveries where channel_id = @channel_id::uuid and body = '' and status = 'pending'
  order by id desc limit 1 for update;

-- name: InsertNotification :exec
insert into webhook_deliveries (id, channel_id, type, body, due_at) values (@id, @channel_id::uuid, @type, @body,
  @due_at);

-- name: InsertNotificationItems :exec
insert into notification_items (delivery_id, channel_id, event_id)
select @delivery_id, @channel_id, unnest(@event_ids::bigint[]);

-- name: LockNotification :one
select body from webhook_deliveries where id = @id and status = 'pending' for update;

-- name: CloseNotification :exec
update webhook_deliveries set body = @body where id = @id;

-- name: CountNotificationItems :one
select count(*) from notification_items where delivery_id = @delivery_id;

-- name: NotificationEvents :many
-- The facts that a notification shows. The newest event of a target decides whether its
-- recipient can still decide.
select i.id as item_id, e.type, e.at, e.actor, e.data, e.post_id, e.target_id,
    coalesce(a.network, '')::text as network, coalesce(a.handle, '')::text as handle, coalesce(t.remote_url, '')::text
      as remote_url,
    coalesce(left(p.content, 300), '')::text as content, p.scheduled_time, coalesce(s.name, '')::text as site,
    coalesce(q.name, '')::text as saved_search, coalesce(r.title, '')::text as article
from notification_items i
join post_events e on e.id = i.event_id
left join post_targets t on t.id = e.target_id
left join scheduled_posts p on p.post_id = e.post_id
left join accounts a on a.id = coalesce(e.account_id, t.account_id)
left join sites s on s.id = (e.data->>'site_id')::uuid
left join saved_searches q on q.id = (e.data->>'saved_search_id')::uuid
left join articles r on r.id = (e.data->>'article_id')::uuid
where i.delivery_id = @delivery_id
order by i.id limit @page_size;

-- name: ListNotifications :many
select d.* from webhook_deliveries d join notification_channels c on c.id = d.channel_id
where d.channel_id = @channel_id::uuid and c.workspace_id = @workspace_id and c.user_id = @user_id and d.body <> ''
order by d.id desc limit @page_size;

-- name: RedeliverNotifications :execrows
update webhook_deliveries d set status = 'pending', retries = 0, due_at = clock_timestamp(), has_workflow = false,
  signaled_at = null
where d.channel_id = @channel_id::uuid and d.status = 'dead';

-- name: ChannelSucceeded :exec
update notification_channels set failing_since = null where id = @id and failing_since is not null;

-- name: ChannelFailed :exec
update notification_channels set failing_since = clock_timestamp() where id = @id and failing_since is null;

-- name: DisableChannel :execrows
-- gone: immediately; failing: after @after_seconds without success.
update notification_channels c set status = 'disabled', disabled_reason = @reason, updated_at = clock_timestamp()
where c.id = @id and c.status = 'enabled'
  and (@reason::text = 'gone' or c.failing_since < clock_timestamp() - make_interval(secs => @after_seconds::float8));

-- name: NotificationDecision :one
-- The decision that a link allows. It is open as long as the target has been uncertain
-- since the event.
select i.id, i.used_at, i.created_at, e.post_id, e.target_id, e.data, e.at, c.workspace_id, c.user_id, c.time_zone,
  m.role, u.name as user_name,
    a.network, a.handle, left(p.content, 1000)::text as content,
    (t.status = 'uncertain' and not exists (
        select 1 from post_events l where l.post_id = e.post_id and l.target_id = e.target_id
          and l.type in ('uncertain', 'confirmed', 'resend') and l.id > e.id))::boolean as is_open,
    (i.created_at < clock_timestamp() - make_interval(secs => @valid_seconds::float8))::boolean as is_expired
from notification_items i
join post_events e on e.id = i.event_id and e.type = 'uncertain'
join notification_channels c on c.id = i.channel_id
join members m on m.workspace_id = c.workspace_id and m.user_id = c.user_id
join users u on u.id = c.user_id
join post_targets t on t.id = e.target_id
join accounts a on a.id = t.account_id
join scheduled_posts p on p.post_id = e.post_id
where i.id = @id;

-- name: UseNotificationLink :execrows
update notification_items set used_at = clock_timestamp() where id = @id and used_at is null;

-- name: StartSystemAlerts :many
insert into system_alerts (name, subject, source) select @name, unnest(@subjects::text[]), @source
on conflict do nothing
returning subject;

-- name: EndSystemAlerts :many
-- Those of other processes only when they are old: a process can be dead, or cut off.
delete from system_alerts
where name = @name and subject <> all(@subjects::text[])
  and (source = @source or since < clock_timestamp() - make_interval(secs => @stale_seconds::float8))
returning subject;

-- name: InsertSystemEvent :exec
insert into post_events (workspace_id, type, actor, data)
select id, @type, 'dateline', jsonb_build_object('alert', @alert::text, 'message', @message::text) from workspaces;
