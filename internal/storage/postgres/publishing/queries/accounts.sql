-- name: UpsertAccount :one
-- No row: the account is stored under another id, so its token was sealed for the wrong
-- one. Its editable properties are kept.
insert into accounts (id, workspace_id, network, base_url, remote_id, handle, name, avatar_url, kind, is_default, token,
  scopes,
    renewable, expires_at, refresh_expires_at, refresh_due_at, settings, app, connected_by, notes, checked_at)
values (@id, @workspace_id, @network, @base_url, @remote_id, @handle, @name, @avatar_url, @kind,
    not exists (select 1 from accounts a where a.workspace_id = @workspace_id and a.status <> 'disconnected'),
    @token, @scopes, @renewable, sqlc.narg('expires_at'), sqlc.narg('refresh_expires_at'), sqlc.narg('refresh_due_at'),
    @settings, @app, sqlc.narg('connected_by'), @notes, clock_timestamp())
on conflict (workspace_id, network, base_url, remote_id) do update set
    handle = excluded.handle, name = excluded.name, avatar_url = excluded.avatar_url, kind = excluded.kind,
      token = excluded.token, scopes = excluded.scopes,
    renewable = excluded.renewable, expires_at = excluded.expires_at, refresh_expires_at = excluded.refresh_expires_at,
    refresh_due_at = excluded.refresh_due_at, settings = excluded.settings || accounts.settings,
    app = excluded.app, connected_by = excluded.connected_by, notes = excluded.notes, checked_at = excluded.checked_at,
    token_version = accounts.token_version + 1, refresh_rolls = false, last_refresh_at = null, refresh_failures = 0,
    lease_owner = null, lease_until = null, warned_for = null, warned_days = null,
    error_class = null, error_code = null, error_message = null, error_at = null,
    status = 'connected', updated_at = clock_timestamp()
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
select * from accounts where workspace_id = @workspace_id and is_default and status = 'connected' order by created_at,
  id;

-- name: GetNetworkApp :one
select * from network_apps where network = @network and base_url = @base_url and redirect_uri = @redirect_uri;

-- name: InsertNetworkApp :exec
insert into network_apps (network, base_url, redirect_uri, client_id, client_secret)
values (@network, @base_url, @redirect_uri, @client_id, @client_secret)
on conflict (network, base_url, redirect_uri) do nothing;

-- name: InsertConnectAttempt :exec
insert into connect_attempts (state, workspace_id, user_id, network, base_url, redirect_uri, verifier, account_id,
  session_id, expires_at)
values (@state, @workspace_id, @user_id, @network, @base_url, @redirect_uri, @verifier, sqlc.narg('account_id'),
  sqlc.narg('session_id'), @expires_at);

-- name: TakeConnectAttempt :one
-- A state is valid for one callback.
delete from connect_attempts where state = @state returning *;

-- name: DeleteStaleConnectAttempts :exec
delete from connect_attempts where expires_at < now();

-- name: MoveAccounts :exec
-- The sandbox serves every network below one URL.
update accounts set base_url = @new_url::text || substr(base_url, length(@old_url::text) + 1), updated_at = now()
where base_url = @old_url::text or starts_with(base_url, @old_url::text || '/');

-- name: InsertAccountChoice :exec
insert into account_choices (id, workspace_id, user_id, network, app, key, accounts, expires_at)
values (@id, @workspace_id, @user_id, @network, @app, @key, @accounts, @expires_at);

-- name: GetAccountChoice :one
select * from account_choices where id = @id and expires_at > now();

-- name: DeleteAccountChoice :exec
delete from account_choices where id = @id;

-- name: DeleteStaleAccountChoices :exec
delete from account_choices where expires_at < now();

-- name: ChangeAccount :one
-- updated_at identifies failed posts to retry after a reconnect, so editing an account
-- does not change it.
update accounts set is_default = coalesce(sqlc.narg('is_default'), is_default),
    label = coalesce(sqlc.narg('label'), label), color = coalesce(sqlc.narg('color'), color),
      utm = coalesce(sqlc.narg('utm')::jsonb, utm),
    settings = (settings || @set_settings::jsonb) - @drop_settings::text[]
where id = @id and workspace_id = @workspace_id
returning *;

-- name: DisconnectAccount :execrows
-- The token is deleted; a renewal in progress cannot store another one.
with changed as (
    update accounts a set status = 'disconnected', token = ''::bytea, token_version = a.token_version + 1,
        renewable = false, expires_at = null, refresh_expires_at = null, refresh_due_at = null,
        lease_owner = null, lease_until = null, updated_at = clock_timestamp()
    where a.id = @id and a.status <> 'disconnected'
    returning a.id, a.workspace_id
)
insert into post_events (workspace_id, account_id, type, actor, data)
select changed.workspace_id, changed.id, 'disconnected', @actor, '{}' from changed;

-- name: RecordAccountSuccess :exec
-- The network has returned the account's properties.
update accounts set handle = @handle, name = @name, avatar_url = coalesce(nullif(@avatar_url::text, ''), avatar_url),
  checked_at = clock_timestamp(),
    error_class = null, error_code = null, error_message = null, error_at = null,
    updated_at = case when status = 'needs_reconnect' then clock_timestamp() else updated_at end,
    status = 'connected'
where id = @id and token_version = @token_version and status <> 'disconnected';

-- name: RecordAccountError :exec
update accounts set error_class = @class, error_code = @code, error_message = @message, error_at = clock_timestamp()
where id = @id and token_version = @token_version and status <> 'disconnected';

-- name: RefuseAccount :execrows
-- The network rejects this token. A newer one is not changed.
with changed as (
    update accounts a set status = 'needs_reconnect', error_class = @class, error_code = @code,
      error_message = @message,
        error_at = clock_timestamp(), lease_owner = null, lease_until = null, updated_at = clock_timestamp()
    where a.id = @id and a.token_version = @token_version and a.status = 'connected'
    returning a.id, a.workspace_id
)
insert into post_events (workspace_id, account_id, type, actor, data)
select changed.workspace_id, changed.id, 'needs_reconnect', 'dateline', '{}' from changed;

-- name: LeaseRefresh :one
-- One renewal of a token at a time: a rotating refresh token can be used once.
update accounts set lease_owner = @owner,
  lease_until = clock_timestamp() + make_interval(secs => @lease_seconds::float8)
where id = @id and token_version = @token_version and status = 'connected'
  and (lease_until is null or lease_until < clock_timestamp())
returning *;

-- name: RenewRefreshLease :execrows
-- Called right before the request that uses up the refresh token.
update accounts set lease_until = clock_timestamp() + make_interval(secs => @lease_seconds::float8)
where id = @id and token_version = @token_version and lease_owner = @owner;

-- name: StoreRefreshed :execrows
-- A new pair is stored unless a newer one exists: also after the lease has expired,
-- because the old pair may be unusable.
update accounts set token = @token, token_version = token_version + 1, renewable = @renewable, scopes = @scopes,
    expires_at = sqlc.narg('expires_at'),
    refresh_rolls = refresh_rolls or coalesce(sqlc.narg('refresh_expires_at') > refresh_expires_at + interval '1 hour',
      false),
    refresh_expires_at = sqlc.narg('refresh_expires_at'), refresh_due_at = sqlc.narg('refresh_due_at'),
    last_refresh_at = clock_timestamp(), refresh_failures = 0, lease_owner = null, lease_until = null,
    checked_at = clock_timestamp(), error_class = null, error_code = null, error_message = null, error_at = null,
    status = 'connected', updated_at = clock_timestamp()
where id = @id and token_version = @token_version and status <> 'disconnected';

-- name: FailRefresh :execrows
update accounts set refresh_failures = refresh_failures + 1, refresh_due_at = sqlc.narg('refresh_due_at'),
    lease_owner = null, lease_until = null,
    error_class = @class, error_code = @code, error_message = @message, error_at = clock_timestamp()
where id = @id and token_version = @token_version and lease_owner = @owner;

-- name: RefreshesDue :many
select id from accounts
where status = 'connected' and refresh_due_at <= clock_timestamp()
order by refresh_due_at limit @batch;

-- name: WarnOfExpiry :many
-- Warns 14, 7 and 1 days before access expires, each once. An expiry that every renewal
-- postpones does not count. Networks that return the remaining lifetime of a token
-- report a slightly different expiry each time.
with ending as (
    select a.id, a.workspace_id, e.ends,
        case when e.ends <= clock_timestamp() + interval '1 day' then 1
             when e.ends <= clock_timestamp() + interval '7 days' then 7
             else 14 end as days
    from accounts a
    cross join lateral (select case when a.renewable then a.refresh_expires_at else a.expires_at end as ends) e
    where a.status = 'connected' and e.ends > clock_timestamp() and e.ends <= clock_timestamp() + interval '14 days'
      and not (a.renewable and a.refresh_rolls)
), changed as (
    update accounts a set warned_for = ending.ends, warned_days = ending.days
    from ending
    where a.id = ending.id
      and (a.warned_for is null or abs(extract(epoch from a.warned_for - ending.ends)) > 86400
        or a.warned_days > ending.days)
    returning a.id, a.workspace_id, ending.ends, ending.days
), event as (
    insert into post_events (workspace_id, account_id, type, actor, data)
    select changed.workspace_id, changed.id, 'expiring', 'dateline',
        jsonb_build_object('days', changed.days, 'ends_at', changed.ends)
    from changed
)
select changed.id from changed;

-- name: GetAvatar :one
select url, image, fetched_at from account_avatars where account_id = @account_id;

-- name: SaveAvatar :exec
insert into account_avatars (account_id, url, image) values (@account_id, @url, @image)
on conflict (account_id) do update set url = excluded.url, image = excluded.image, fetched_at = clock_timestamp();
