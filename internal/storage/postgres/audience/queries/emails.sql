-- name: InsertSubscription :one
-- No row: the site has too many.
insert into report_subscriptions (id, workspace_id, site_id, kind, email, language, token)
select @id, @workspace_id, @site_id, @kind, @email, @language, @token
where (select count(*) from report_subscriptions s where s.site_id = @site_id) < @max_subscriptions::int
returning *;

-- name: ListSubscriptions :many
select sqlc.embed(s), coalesce(e.status, '') as email_status, coalesce(e.last_error, '') as email_error,
  coalesce(e.created_at, 'epoch')::timestamptz as email_created_at, e.sent_at as email_sent_at
from report_subscriptions s
left join lateral (select * from emails m where m.subscription_id = s.id order by m.created_at desc limit 1) e on true
where s.site_id = @site_id and s.workspace_id = @workspace_id
order by s.created_at, s.id;

-- name: SiteSubscriptions :many
select * from report_subscriptions where site_id = @site_id and kind = @kind order by id;

-- name: ReportSubscriptions :many
select sqlc.embed(s), sqlc.embed(w) from report_subscriptions s join sites w on w.id = s.site_id
where s.kind in ('weekly', 'monthly') order by s.id;

-- name: DeleteSubscription :one
delete from report_subscriptions where id = @id and site_id = @site_id and workspace_id = @workspace_id returning kind;

-- name: SubscriptionByToken :one
select sqlc.embed(s), w.name as site_name from report_subscriptions s join sites w on w.id = s.site_id
  where s.token = @token;

-- name: Unsubscribe :execrows
delete from report_subscriptions where token = @token;

-- name: ResendEmail :execrows
update emails set status = 'pending', attempts = 0, due_at = clock_timestamp()
where id = (select e.id from emails e join report_subscriptions s on s.id = e.subscription_id
            where s.id = @subscription_id and s.site_id = @site_id and s.workspace_id = @workspace_id
            order by e.created_at desc limit 1)
  and status = 'dead';

-- name: HasEmail :one
select exists (select 1 from emails where id = @id);

-- name: InsertEmail :exec
insert into emails (id, workspace_id, subscription_id, recipient, subject, body_text, body_html, unsubscribe_url)
select @id, @workspace_id, s.id, @recipient, @subject, @body_text, @body_html, @unsubscribe_url
from report_subscriptions s where s.id = @subscription_id
on conflict (id) do nothing;

-- name: ClaimEmail :one
-- An email is claimed before it is sent and never sent twice without a request.
update emails set status = 'sending', attempts = attempts + 1, attempted_at = clock_timestamp()
where id = (select e.id from emails e where e.status = 'pending' and e.due_at <= clock_timestamp() order by e.due_at
  limit 1 for update skip locked)
returning *;

-- name: RecordEmail :exec
update emails set status = @status::text, last_error = @last_error,
  due_at = clock_timestamp() + make_interval(secs => @retry_in::float8),
    sent_at = case when @status::text = 'sent' then clock_timestamp() else sent_at end
where id = @id;

-- name: AbandonEmails :execrows
update emails set status = 'dead', last_error = @last_error
where status = 'sending' and attempted_at < clock_timestamp() - make_interval(secs => @after::float8);

-- name: PruneEmails :exec
delete from emails where status in ('sent', 'dead')
  and created_at < clock_timestamp() - make_interval(days => @retention_days::int);

-- name: GetAlertRule :one
select * from site_alert_rules where site_id = @site_id;

-- name: SetAlertRule :exec
insert into site_alert_rules (site_id, enabled, spike_factor, drop_share, min_views)
values (@site_id, @enabled, @spike_factor, @drop_share, @min_views)
on conflict (site_id) do update set enabled = excluded.enabled, spike_factor = excluded.spike_factor,
  drop_share = excluded.drop_share, min_views = excluded.min_views;

-- name: RuledSites :many
select sqlc.embed(w), sqlc.embed(r) from site_alert_rules r join sites w on w.id = r.site_id where r.enabled
  order by w.id;

-- name: HasAlert :one
select exists (select 1 from site_alerts where site_id = @site_id and kind = @kind and hour > @since);

-- name: InsertAlert :execrows
insert into site_alerts (id, workspace_id, site_id, kind, hour, views, usual)
values (@id, @workspace_id, @site_id, @kind, @hour, @views, @usual)
on conflict (id) do nothing;

-- name: InsertAlertEvent :exec
insert into post_events (workspace_id, type, actor, data)
values (@workspace_id, @type, 'dateline', jsonb_build_object('site_id', @site_id::uuid, 'hour', @hour::timestamptz,
  'views', @views::bigint, 'usual', @usual::bigint));

-- name: ListAlerts :many
select * from site_alerts where site_id = @site_id and workspace_id = @workspace_id order by hour desc,
  id limit @page_size;

-- name: EraseSiteAlerts :execrows
delete from site_alerts where site_id = @site_id;
