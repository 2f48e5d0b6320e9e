-- +goose Up

-- Posts of authors wait for an editor, where the workspace wants that.
alter table workspaces add column if not exists authors_need_approval boolean not null default false;

create type approval_state as enum ('none', 'pending', 'approved', 'rejected');

-- A post that waits is a draft with a time. The last check keeps what nobody
-- has approved off the schedule, whatever the statements say.
alter table scheduled_posts
    add column approval      approval_state not null default 'none',
    add column submitted_by  uuid,                              -- null: by a series or an operator
    add column submitted_at  timestamptz,
    add column approval_by   uuid,                              -- who approved or rejected it
    add column approval_at   timestamptz,
    add column approval_note text not null default '' check (length(approval_note) <= 2000),
    add constraint scheduled_posts_approved check (approval not in ('pending', 'rejected') or status in ('draft', 'cancelled'));

-- Whose words a series publishes: an author's wait for approval.
alter table series add column by_author boolean not null default false;
update series s set by_author = true
from members m where m.workspace_id = s.workspace_id and m.user_id = s.user_id and m.role = 'author';

-- Tells whether a text stands twice on an account. Null: there is none, or the
-- row is older than this column; such posts are not warned of.
alter table post_targets add column fingerprint bytea check (length(fingerprint) = 16);
create index post_targets_fingerprint on post_targets (account_id, fingerprint, id) where fingerprint is not null;

-- Webhooks tell of approval; see DueEvents.
drop index post_events_outcomes;
create index post_events_outcomes on post_events (tx, id)
    where type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect', 'expiring', 'submitted', 'approved', 'rejected');

-- +goose Down
drop index post_events_outcomes;
create index post_events_outcomes on post_events (tx, id)
    where type in ('posted', 'failed', 'uncertain', 'late', 'needs_reconnect', 'expiring');
drop index post_targets_fingerprint;
alter table post_targets drop column fingerprint;
alter table series drop column by_author;
alter table scheduled_posts
    drop constraint scheduled_posts_approved,
    drop column approval_note,
    drop column approval_at,
    drop column approval_by,
    drop column submitted_at,
    drop column submitted_by,
    drop column approval;
drop type approval_state;
