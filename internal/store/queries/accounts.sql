-- name: UpsertAccount :one
-- No row: the account is stored under another id, and its token was therefore
-- sealed for the wrong one.
insert into accounts (id, workspace_id, network, base_url, remote_id, handle, name, is_default, token, scopes)
values (@id, @workspace_id, @network, @base_url, @remote_id, @handle, @name,
    not exists (select 1 from accounts a where a.workspace_id = @workspace_id and a.status <> 'disconnected'),
    @token, @scopes)
on conflict (workspace_id, network, base_url, remote_id) do update set
    handle = excluded.handle, name = excluded.name, token = excluded.token, scopes = excluded.scopes,
    status = 'connected', updated_at = now()
where accounts.id = excluded.id
returning *;

-- name: AccountIDByRemote :one
select id from accounts
where workspace_id = @workspace_id and network = @network and base_url = @base_url and remote_id = @remote_id;

-- name: GetAccount :one
select * from accounts where id = @id;

-- name: ListAccounts :many
select * from accounts where workspace_id = @workspace_id order by created_at, id;

-- name: AccountsByID :many
select * from accounts where workspace_id = @workspace_id and id = any(@ids::uuid[]);

-- name: DefaultAccounts :many
select * from accounts where workspace_id = @workspace_id and is_default and status = 'connected' order by created_at, id;

-- name: SetAccountStatus :exec
-- Of many that find the same at once, one changes the status and writes the event.
with changed as (
    update accounts a set status = @status, updated_at = now()
    where a.id = @id and a.status <> 'disconnected' and a.status <> @status
    returning a.id, a.workspace_id
)
insert into post_events (workspace_id, account_id, type, actor, data)
select changed.workspace_id, changed.id, @event::text, 'dateline', '{}' from changed;

-- name: GetNetworkApp :one
select * from network_apps where network = @network and base_url = @base_url and redirect_uri = @redirect_uri;

-- name: InsertNetworkApp :exec
insert into network_apps (network, base_url, redirect_uri, client_id, client_secret)
values (@network, @base_url, @redirect_uri, @client_id, @client_secret)
on conflict (network, base_url, redirect_uri) do nothing;

-- name: InsertConnectAttempt :exec
insert into connect_attempts (state, workspace_id, user_id, network, base_url, redirect_uri, verifier, expires_at)
values (@state, @workspace_id, @user_id, @network, @base_url, @redirect_uri, @verifier, @expires_at);

-- name: TakeConnectAttempt :one
-- A state is good for one callback.
delete from connect_attempts where state = @state returning *;

-- name: DeleteStaleConnectAttempts :exec
delete from connect_attempts where expires_at < now();

-- name: MoveAccounts :exec
update accounts set base_url = @new_url, updated_at = now()
where network = @network and base_url = @old_url;
