-- +goose Up

alter table workspaces add column authors_need_approval boolean not null default false;

-- Null: invited, and not logged in since.
alter table members add column joined_at timestamptz;
update members set joined_at = created_at;
create index members_user on members (user_id);

-- '*' is all that the member's role allows, also what is added later.
alter table api_tokens add column scopes text[] not null default '{*}' check (cardinality(scopes) > 0);
alter table api_tokens alter column scopes drop default;
create index api_tokens_workspace on api_tokens (workspace_id, id) where revoked_at is null;

-- Who did what. Rows are written in the transaction of what they tell of, and
-- are never changed. They hold no address of anybody, and no foreign keys but
-- the workspace's: what they tell of may be gone.
create table audit_log (
    id           bigint generated always as identity primary key,
    workspace_id uuid not null references workspaces on delete cascade,
    at           timestamptz not null default clock_timestamp(),
    actor        text not null check (actor in ('user', 'operator', 'dateline')),
    user_id      uuid check ((user_id is not null) = (actor = 'user')),
    token_id     uuid,                                         -- null: not by an API token
    session_id   uuid,                                         -- null: not in a browser
    action       text not null check (action <> ''),           -- internal/audit lists them
    object_type  text not null check (object_type <> ''),
    object_id    uuid not null,
    request_id   uuid,                                         -- X-Request-ID; null: not by a request
    data         jsonb not null default '{}'
);
create index audit_log_workspace on audit_log (workspace_id, id);
create index audit_log_user on audit_log (workspace_id, user_id, id);
create index audit_log_object on audit_log (workspace_id, object_id, id);

-- +goose StatementBegin
create function refuse_to_rewrite() returns trigger language plpgsql as $$
begin
    raise exception 'rows of % are never changed', tg_table_name;
end $$;
-- +goose StatementEnd
create trigger audit_log_is_not_rewritten before update on audit_log
    for each statement execute function refuse_to_rewrite();

-- +goose Down
drop table audit_log;
drop function refuse_to_rewrite;
drop index api_tokens_workspace, members_user;
alter table api_tokens drop column scopes;
alter table members drop column joined_at;
alter table workspaces drop column authors_need_approval;
