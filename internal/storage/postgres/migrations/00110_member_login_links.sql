-- +goose Up
-- One-time links by which a member logs in to one workspace. An owner of the workspace gets the link and
-- could use it, so that its session is confined to the workspace: the user may be a member of others.
create table member_login_links (
    workspace_id uuid not null,
    user_id      uuid not null,
    hash         bytea not null unique check (length(hash) = 32),
    expires_at   timestamptz not null,
    primary key (workspace_id, user_id),                         -- a new link replaces the previous one
    foreign key (workspace_id, user_id) references members on delete cascade
);
alter table sessions add column confined boolean not null default false; -- to its workspace

-- +goose Down
drop table member_login_links;
alter table sessions drop column confined;
