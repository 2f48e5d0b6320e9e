-- name: InsertAudit :exec
insert into audit_log (workspace_id, actor, user_id, token_id, session_id, action, object_type, object_id, request_id,
  data)
values (@workspace_id, @actor, sqlc.narg('user_id'), sqlc.narg('token_id'), sqlc.narg('session_id'), @action,
  @object_type,
    @object_id, sqlc.narg('request_id'), @data);
