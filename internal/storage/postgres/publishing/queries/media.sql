-- name: InsertMedia :one
insert into media (id, workspace_id, user_id, object_key, sha256, mime_type, bytes, width, height, file_name, alt_text,
  kind,
    frames, pages, duration_ms, frame_rate, bit_rate, video_codec, audio_codec, audio_rate, pixel_format,
    rotation, orientation, search_text, metadata_removed)
values (@id, @workspace_id, @user_id, @object_key, @sha256, @mime_type, @bytes, @width, @height, @file_name, @alt_text,
  @kind,
    @frames, @pages, @duration_ms, @frame_rate, @bit_rate, @video_codec, @audio_codec, @audio_rate, @pixel_format,
    @rotation, @orientation, @search_text, @metadata_removed::text[])
returning *;

-- name: GetMedia :one
select * from media where id = @id and workspace_id = @workspace_id and (deleted_at is null or @deleted_too::bool);

-- name: MediaByID :many
-- Includes deleted files that may still have to be published.
select * from media where workspace_id = @workspace_id and id = any(@ids::uuid[]) and released_at is null;

-- name: ListMedia :many
select * from media
where workspace_id = @workspace_id and deleted_at is null
  and (@kind::text = '' or kind = @kind)
  and search_text like all (@patterns::text[])
  and (sqlc.narg('before_time')::timestamptz is null or (created_at, id) < (sqlc.narg('before_time'),
    sqlc.narg('before_id')::uuid))
order by created_at desc, id desc
limit @page_size;

-- name: EditMedia :one
update media set file_name = coalesce(sqlc.narg('file_name'), file_name), alt_text = coalesce(sqlc.narg('alt_text'),
  alt_text),
    search_text = @search_text
where id = @id and workspace_id = @workspace_id and deleted_at is null
returning *;

-- name: LockMedia :one
select * from media where id = @id and workspace_id = @workspace_id and deleted_at is null for update;

-- name: MediaNeeded :many
-- Posts that are not published yet, or may be retried, and use the file.
select p.post_id from scheduled_posts p
where (p.status = 'draft'
       or exists (select 1 from post_targets t where t.post_id = p.post_id and t.status in ('scheduled', 'publishing',
         'failed', 'uncertain')))
  and (   (p.attachment_ids <> '{}' and p.attachment_ids @> array[@media_id::uuid])
       or (p.thread <> '[]' and p.thread @> jsonb_build_array(jsonb_build_object('attachment_ids',
         jsonb_build_array(@media_id::uuid))))
       or p.post_id in (select t.post_id from post_targets t
                        where t.override is not null
                          and (   t.override @> jsonb_build_object('attachment_ids', jsonb_build_array(@media_id::uuid))
                               or t.override @> jsonb_build_object('thread',
                                 jsonb_build_array(jsonb_build_object('attachment_ids',
                                 jsonb_build_array(@media_id::uuid)))))))
union all
select s.id from series s
where s.status <> 'ended' and position(replace(cast(@media_id::uuid as text), '-',
  '') in replace(lower(s.template::text), '-', '')) > 0
limit 1;

-- name: LockUsedMedia :many
-- Locks the files against edits until the transaction ends, so that the posts it
-- creates have the descriptions that were read.
select id from media where id = any(@ids::uuid[]) order by id for key share;

-- name: DraftsWithMedia :many
-- Drafts that use the file, including those that are pending approval. They are locked
-- against submitting and scheduling until the transaction ends.
select p.post_id from scheduled_posts p
where p.workspace_id = @workspace_id and p.status = 'draft'
  and (   (p.attachment_ids <> '{}' and p.attachment_ids @> array[@media_id::uuid])
       or (p.thread <> '[]' and p.thread @> jsonb_build_array(jsonb_build_object('attachment_ids',
         jsonb_build_array(@media_id::uuid))))
       or p.post_id in (select t.post_id from post_targets t
                        where t.override is not null
                          and (   t.override @> jsonb_build_object('attachment_ids', jsonb_build_array(@media_id::uuid))
                               or t.override @> jsonb_build_object('thread',
                                 jsonb_build_array(jsonb_build_object('attachment_ids',
                                 jsonb_build_array(@media_id::uuid)))))))
order by p.post_id
for no key update;

-- name: ScheduledWithMedia :many
-- Scheduled posts that use the file. Posts locked by another transaction are skipped:
-- they are being edited or published.
select p.post_id from scheduled_posts p
where p.workspace_id = @workspace_id and p.status = 'scheduled'
  and (   (p.attachment_ids <> '{}' and p.attachment_ids @> array[@media_id::uuid])
       or (p.thread <> '[]' and p.thread @> jsonb_build_array(jsonb_build_object('attachment_ids',
         jsonb_build_array(@media_id::uuid))))
       or p.post_id in (select t.post_id from post_targets t
                        where t.override is not null
                          and (   t.override @> jsonb_build_object('attachment_ids', jsonb_build_array(@media_id::uuid))
                               or t.override @> jsonb_build_object('thread',
                                 jsonb_build_array(jsonb_build_object('attachment_ids',
                                 jsonb_build_array(@media_id::uuid)))))))
order by p.post_id
for no key update skip locked;

-- name: ApprovedWithMedia :many
-- Approved content that uses the file, or content that needed no approval: scheduled
-- posts, posts that may be retried, and series of editors.
select p.post_id from scheduled_posts p
where p.status <> 'draft'
  and exists (select 1 from post_targets t where t.post_id = p.post_id and t.status in ('scheduled', 'publishing',
    'failed', 'uncertain'))
  and (   (p.attachment_ids <> '{}' and p.attachment_ids @> array[@media_id::uuid])
       or (p.thread <> '[]' and p.thread @> jsonb_build_array(jsonb_build_object('attachment_ids',
         jsonb_build_array(@media_id::uuid))))
       or p.post_id in (select t.post_id from post_targets t
                        where t.override is not null
                          and (   t.override @> jsonb_build_object('attachment_ids', jsonb_build_array(@media_id::uuid))
                               or t.override @> jsonb_build_object('thread',
                                 jsonb_build_array(jsonb_build_object('attachment_ids',
                                 jsonb_build_array(@media_id::uuid)))))))
union all
select s.id from series s
where s.status <> 'ended' and not s.by_author
  and position(replace(cast(@media_id::uuid as text), '-', '') in replace(lower(s.template::text), '-', '')) > 0
limit 1;

-- name: ReviseForMedia :many
-- Editing a file is an edit of the posts that use it. A post that only its series has
-- changed stays unmodified.
update scheduled_posts set platform_media_ids = '{}',
    series_revision = case when series_revision = revision then revision + 1 else series_revision end,
    version = version + 1, revision = revision + 1, updated_at = clock_timestamp()
where post_id = any(@post_ids::uuid[])
returning *;

-- name: DeleteMedia :execrows
update media set deleted_at = now() where id = @id and deleted_at is null;

-- name: UnusedMedia :many
-- Files of a certain age that no post, whatever its status, and no series uses.
select m.id from media m
where m.deleted_at is null and m.created_at < now() - make_interval(secs => @older_than_seconds::float8)
  and m.id > @after_id
  and not exists (select 1 from scheduled_posts p where p.attachment_ids <> '{}' and p.attachment_ids @> array[m.id])
  and not exists (select 1 from scheduled_posts p where p.thread <> '[]'
    and p.thread @> jsonb_build_array(jsonb_build_object('attachment_ids', jsonb_build_array(m.id))))
  and not exists (select 1 from post_targets t where t.override is not null
    and t.override @> jsonb_build_object('attachment_ids', jsonb_build_array(m.id)))
  and not exists (select 1 from post_targets t where t.override is not null
                  and t.override @> jsonb_build_object('thread',
                    jsonb_build_array(jsonb_build_object('attachment_ids', jsonb_build_array(m.id)))))
  and not exists (select 1 from series s where position(replace(m.id::text, '-', '') in replace(lower(s.template::text),
    '-', '')) > 0)
order by m.id
limit @batch;

-- name: DeletedMedia :many
-- A request that used a file just before it was deleted has created its post by now.
select id from media
where released_at is null and deleted_at < now() - make_interval(secs => @grace_seconds::float8) and id > @after_id
order by id
limit @batch;

-- name: ReleaseMedia :execrows
update media set released_at = now() where id = @id and deleted_at is not null and released_at is null;

-- name: ClaimObject :exec
-- Waits for a concurrent deletion of the object.
insert into media_objects (object_key, claimed_until)
  values (@object_key, now() + make_interval(secs => @seconds::float8))
on conflict (object_key) do update set claimed_until = greatest(media_objects.claimed_until, excluded.claimed_until);

-- name: UnusedObjects :many
select o.object_key from media_objects o
where o.claimed_until < now() and o.object_key > @after_key
  and not exists (select 1 from media m where m.held_key = o.object_key)
  and not exists (select 1 from media_renditions r where r.object_key = o.object_key)
order by o.object_key
limit @batch;

-- name: LockUnusedObject :one
-- Two statements, because changes that a lock waited for are visible only to the next
-- one.
select object_key from media_objects where object_key = @object_key for update skip locked;

-- name: IsObjectUnused :one
select exists (
    select 1 from media_objects o
    where o.object_key = @object_key and o.claimed_until < now()
      and not exists (select 1 from media m where m.held_key = o.object_key)
      and not exists (select 1 from media_renditions r where r.object_key = o.object_key));

-- name: DropObject :exec
delete from media_objects where object_key = @object_key;

-- name: GetRendition :one
update media_renditions set used_at = now() where source_key = @source_key and spec = @spec returning *;

-- name: InsertRendition :exec
insert into media_renditions (source_key, spec, object_key, sha256, mime_type, bytes, width, height)
values (@source_key, @spec, @object_key, @sha256, @mime_type, @bytes, @width, @height)
on conflict (source_key, spec) do nothing;

-- name: DropOldRenditions :execrows
delete from media_renditions where used_at < now() - make_interval(secs => @older_than_seconds::float8);

-- name: InsertMediaUpload :one
insert into media_uploads (id, workspace_id, user_id, file_name, alt_text, bytes, sha256, object_key, parts_id,
  part_bytes)
values (@id, @workspace_id, @user_id, @file_name, @alt_text, @bytes, @sha256, @object_key, @parts_id, @part_bytes)
returning *;

-- name: GetMediaUpload :one
select * from media_uploads where id = @id and workspace_id = @workspace_id;

-- name: TakeMediaUpload :one
update media_uploads set taken_until = now() + make_interval(secs => @seconds::float8)
where id = @id and workspace_id = @workspace_id and media_id is null
  and created_at > now() - make_interval(secs => @younger_than_seconds::float8)
    and (taken_until is null or taken_until < now())
returning *;

-- name: ReturnMediaUpload :exec
update media_uploads set taken_until = null where id = @id;

-- name: FinishMediaUpload :exec
update media_uploads set media_id = @media_id, taken_until = null where id = @id;

-- name: OldMediaUploads :many
select * from media_uploads
where created_at < now() - make_interval(secs => @older_than_seconds::float8)
  and (taken_until is null or taken_until < now())
order by created_at
limit @batch;

-- name: DropMediaUpload :exec
delete from media_uploads where id = @id;

-- name: WorkspaceOptions :one
select authors_need_approval, keep_media_credit from workspaces where id = @id;
