-- +goose Up

-- What lies in the S3 bucket by the hash of its content. A row is there before
-- its object and goes after it, so no object is ever without one. Who stores an
-- object claims the row first; who deletes one holds the row's lock meanwhile;
-- and what is not here cannot be referred to. So an upload and the deletion of
-- the same bytes cannot miss one another.
create table media_objects (
    object_key    text primary key,
    claimed_until timestamptz not null                         -- somebody is storing it
);
insert into media_objects (object_key, claimed_until) select distinct object_key, now() from media;

alter table media
    add column frames      int not null default 1 check (frames >= 0),       -- of an animation; 0 for a video
    add column duration_ms bigint not null default 0 check (duration_ms >= 0),
    add column frame_rate  float8 not null default 0 check (frame_rate >= 0),
    add column bit_rate    bigint not null default 0 check (bit_rate >= 0),
    add column video_codec text not null default '',
    add column audio_codec text not null default '',
    add column rotation    int not null default 0,              -- degrees clockwise that a player turns it by; the size is as shown
    add column orientation int not null default 1 check (orientation between 1 and 8), -- EXIF
    add column kind        text not null default 'image' check (kind in ('image', 'animation', 'video')),
    add column search_text text not null default '',            -- file name and description, folded by internal/media
    add column deleted_at  timestamptz,
    add column released_at timestamptz;                         -- nothing that is to go out needs it any more
update media set kind = 'video', frames = 0 where mime_type like 'video/%';
update media set search_text = translate(lower(regexp_replace(normalize(file_name || ' ' || alt_text, NFD), '[\u0300-\u036f]', '', 'g')), 'đĐ', 'dd');
alter table media
    add column held_key text generated always as (case when released_at is null then object_key end) stored,
    add constraint media_held foreign key (held_key) references media_objects (object_key),
    add constraint media_released check (released_at is null or deleted_at is not null);
create index media_held_key on media (held_key) where held_key is not null;
drop index media_workspace;
create index media_workspace on media (workspace_id, created_at desc, id desc) where deleted_at is null;
create index media_deleted on media (deleted_at) where deleted_at is not null and released_at is null;
create index media_age on media (created_at) where deleted_at is null;

-- Which posts use a file: most posts have none, and cost nothing here.
create index scheduled_posts_attachments on scheduled_posts using gin (attachment_ids) where attachment_ids <> '{}';
create index scheduled_posts_threads on scheduled_posts using gin (thread jsonb_path_ops) where thread <> '[]';
create index post_targets_overrides on post_targets using gin (override jsonb_path_ops) where override is not null;

-- What was made of an image to suit a network.
create table media_renditions (
    source_key text not null references media_objects (object_key) on delete cascade,
    spec       text not null,                                   -- what was asked for
    object_key text not null references media_objects (object_key),
    sha256     bytea not null check (length(sha256) = 32),
    mime_type  text not null,
    bytes      bigint not null check (bytes > 0),
    width      int not null check (width > 0),
    height     int not null check (height > 0),
    used_at    timestamptz not null default now(),
    primary key (source_key, spec)
);
create index media_renditions_object on media_renditions (object_key);

-- Uploads that go to the bucket directly, until they are files.
create table media_uploads (
    id            uuid primary key,
    workspace_id  uuid not null references workspaces on delete cascade,
    user_id       uuid not null references users,
    file_name     text not null,
    alt_text      text not null,
    bytes         bigint not null check (bytes > 0),
    sha256        bytea check (length(sha256) = 32),            -- that the uploader promises
    object_key    text not null,                                -- where the bytes arrive
    parts_id      text,                                         -- the bucket's id of an upload in parts
    part_bytes    bigint check (part_bytes > 0),
    taken_until   timestamptz,                                  -- somebody is completing it
    media_id      uuid references media on delete cascade,      -- what it became
    created_at    timestamptz not null default now(),
    check ((parts_id is null) = (part_bytes is null))
);
create index media_uploads_age on media_uploads (created_at);

-- +goose Down
drop table media_uploads, media_renditions;
drop index post_targets_overrides, scheduled_posts_threads, scheduled_posts_attachments, media_age, media_deleted;
drop index media_workspace;
create index media_workspace on media (workspace_id, created_at desc);
alter table media
    drop column held_key,
    drop column released_at, drop column deleted_at, drop column search_text, drop column kind, drop column orientation,
    drop column rotation, drop column audio_codec, drop column video_codec, drop column bit_rate, drop column frame_rate,
    drop column duration_ms, drop column frames;
drop table media_objects;
