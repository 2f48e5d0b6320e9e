-- name: ListHubSubscriptions :many
select url_id, feed_url, hub, topic, status, lease_ends_at, delivered_at, last_error,
  coalesce(delivering_until > clock_timestamp(), false)::boolean as delivering
from websub_subscriptions where domain_id = @domain_id order by feed_url limit @batch;

-- name: UpsertHubSubscription :exec
-- A feed that names another hub or topic gets a new subscription, with a callback of its own.
insert into websub_subscriptions (id, domain_id, url_id, feed_url, hub, topic, key, callback_hash)
values (@id, @domain_id, @url_id, @feed_url, @hub, @topic, @key, @callback_hash)
on conflict (domain_id, url_id) do update set id = excluded.id, feed_url = excluded.feed_url, hub = excluded.hub,
  topic = excluded.topic, status = 'pending', key = excluded.key,
    callback_hash = excluded.callback_hash, requested_until = null, lease_ends_at = null, due_at = excluded.due_at,
      claim = null, failures = 0, last_error = '',
    discovered_at = excluded.discovered_at, delivered_at = null, delivering_until = null,
      created_at = excluded.created_at
where (websub_subscriptions.hub, websub_subscriptions.topic) is distinct from (excluded.hub, excluded.topic);

-- name: DeleteHubSubscription :exec
delete from websub_subscriptions where domain_id = @domain_id and url_id = @url_id;

-- name: DistrustHub :exec
-- The feed is polled at its normal pace again.
update websub_subscriptions set delivering_until = null where domain_id = @domain_id and url_id = @url_id;

-- name: ClaimHubSubscriptions :many
with due as (
    select s.id from websub_subscriptions s where s.due_at <= clock_timestamp() order by s.due_at
      limit @batch for update skip locked)
update websub_subscriptions s set claim = @claim::uuid,
  due_at = clock_timestamp() + make_interval(secs => @seconds::float8)
from due, crawl_domains d where s.id = due.id and d.id = s.domain_id
returning sqlc.embed(s), d.domain, exists (select 1 from seeds n where n.domain_id = s.domain_id
  and n.status = 'active')::boolean as wanted,
    extract(epoch from clock_timestamp() - s.discovered_at)::float8 as discovery_age;

-- name: StartHubRequest :execrows
-- Allows the hub to verify a request that is about to be sent. No row: the claim has expired.
update websub_subscriptions set requested_until = clock_timestamp() + make_interval(secs => @seconds::float8),
  discovered_at = clock_timestamp() - make_interval(secs => @discovery_age::float8)
where id = @id and claim = @claim::uuid;

-- name: RecordHubRequest :exec
-- A hub that has verified the request in the meantime has ended the claim.
update websub_subscriptions set claim = null, failures = failures + 1, last_error = @last_error,
  due_at = clock_timestamp() + make_interval(secs => @seconds::float8)
where id = @id and claim = @claim::uuid;

-- name: GetHubSubscription :one
select sqlc.embed(s), d.domain from websub_subscriptions s join crawl_domains d on d.id = s.domain_id
  where s.callback_hash = @callback_hash;

-- name: ConfirmHubSubscription :execrows
-- No row: we have not requested it. A hub that did not get the answer may repeat its question for a while.
update websub_subscriptions set status = 'active', claim = null, failures = 0, last_error = '',
  requested_until = least(requested_until, clock_timestamp() + make_interval(secs => @repeat_seconds::float8)),
    lease_ends_at = clock_timestamp() + make_interval(secs => @lease_seconds::float8),
      due_at = clock_timestamp() + make_interval(secs => @renew_seconds::float8)
where callback_hash = @callback_hash and topic = @topic and requested_until > clock_timestamp();

-- name: DenyHubSubscription :execrows
update websub_subscriptions set status = 'denied', claim = null, requested_until = null, lease_ends_at = null,
  delivering_until = null, last_error = @last_error,
    due_at = clock_timestamp() + make_interval(secs => @seconds::float8)
where callback_hash = @callback_hash and topic = @topic;

-- name: RecordHubDelivery :exec
-- Only within a lease, the feed is polled less often.
update websub_subscriptions set delivered_at = clock_timestamp(),
    delivering_until = case when status = 'active' then least(lease_ends_at,
      clock_timestamp() + make_interval(secs => @seconds::float8)) end
where id = @id;

-- name: CountHubSubscriptions :many
select case when status = 'active' and lease_ends_at <= clock_timestamp() then 'expired' else status end::text
  as status, count(*) as subscriptions
from websub_subscriptions group by 1;
