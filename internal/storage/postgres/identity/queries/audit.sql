-- name: ListAudit :many
select sqlc.embed(l), coalesce(u.name, '')::text as user_name, coalesce(t.name, '')::text as token_name
from audit_log l
left join users u on u.id = l.user_id
left join api_tokens t on t.id = l.token_id
where l.workspace_id = @workspace_id
  and (@actor::text = '' or l.actor = @actor)
  and (sqlc.narg('user_id')::uuid is null or l.user_id = sqlc.narg('user_id'))
  and (cardinality(@actions::text[]) = 0 or l.action = any(@actions::text[]))
  and (sqlc.narg('object_id')::uuid is null or l.object_id = sqlc.narg('object_id'))
  and (sqlc.narg('from_time')::timestamptz is null or l.at >= sqlc.narg('from_time'))
  and (sqlc.narg('to_time')::timestamptz is null or l.at < sqlc.narg('to_time'))
  and (sqlc.narg('before')::bigint is null or l.id < sqlc.narg('before'))
order by l.id desc limit @page_size;
