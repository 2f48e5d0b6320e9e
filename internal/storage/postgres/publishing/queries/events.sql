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

-- name: LastEventType :one
-- The newest event about one target.
select type from post_events where post_id = @post_id::uuid and target_id = @target_id order by id desc limit 1;
