-- name: InsertEvent :one
insert into post_events (post_id, workspace_id, target_id, type, actor, data)
values (@post_id, @workspace_id, sqlc.narg('target_id'), @type, @actor, @data)
returning id;

-- name: EventsAfter :many
select * from post_events
where post_id = @post_id::uuid and id > @after_id
order by id limit @page_size;

-- name: EventHorizon :one
-- Settled events (see WorkspaceEvents) have a transaction before tx and an id up to id.
select pg_snapshot_xmin(pg_current_snapshot())::xid8 as tx, coalesce((select max(id) from post_events), 0)::bigint
  as id;

-- name: WorkspaceEvents :many
-- In the order (tx, id), in which no event can still precede a settled one: its
-- transaction is older than all that are running. Unsettled events come last. An
-- event's accounts are its own, its target's, or, if it concerns the whole post, those
-- of the post. A cursor with a transaction that this server has not reached was issued
-- before the database was restored from a dump: only its id counts, see RestartEvents.
select e.id, e.tx, e.post_id, e.target_id, e.account_id, e.type, e.actor, e.data, e.at,
    (e.tx < pg_snapshot_xmin(pg_current_snapshot()))::boolean as settled,
    coalesce((cardinality(@types::text[]) = 0 or e.type = any(@types::text[]))
     and (sqlc.narg('account')::uuid is null
          or e.account_id = sqlc.narg('account')
          or (e.target_id is not null and exists (
                select 1 from post_targets t where t.id = e.target_id and t.account_id = sqlc.narg('account')))
          or (e.target_id is null and e.post_id is not null and exists (
                select 1 from post_targets t where t.post_id = e.post_id and t.account_id = sqlc.narg('account')))),
                  false)::boolean as wanted
from post_events e
where e.workspace_id = @workspace_id
  and (e.tx, e.id) > (case when @after_tx::xid8 > pg_snapshot_xmax(pg_current_snapshot()) then '0'::xid8
    else @after_tx::xid8 end, @after_id::bigint)
order by e.tx, e.id limit @page_size;

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
-- name: LastEventType :one
-- The newest event about one target.
select type from post_events where post_id = @post_id::uuid and target_id = @target_id order by id desc limit 1;
