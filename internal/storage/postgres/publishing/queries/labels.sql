-- name: ListLabels :many
select * from labels where workspace_id = @workspace_id order by kind, lower(name), id;

-- name: InsertLabel :one
-- No row: the workspace has as many labels as it may have.
insert into labels (id, workspace_id, kind, name, color, utm)
select @id, @workspace_id, @kind, @name, @color, @utm
where (select count(*) from labels where workspace_id = @workspace_id) < @max_labels::int
returning *;

-- name: UpdateLabel :one
update labels set name = @name, color = @color, utm = @utm, updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id
returning *;

-- name: DeleteLabel :execrows
delete from labels where id = @id and workspace_id = @workspace_id;

-- name: RemoveLabelFromPosts :exec
update scheduled_posts set label_ids = array_remove(label_ids, @id::uuid)
where workspace_id = @workspace_id and label_ids @> array[@id::uuid];

-- name: LockLabels :many
-- Keeps labels from being deleted while a post gets them.
select id, kind from labels where workspace_id = @workspace_id and id = any(@ids::uuid[]) for key share;

-- name: LabelPosts :many
-- Labels change neither what nor when: the post has no new version, and nobody who
-- edits it meanwhile is disturbed. A
-- campaign takes the place of another one.
update scheduled_posts p set label_ids = l.after
from (
    select s.post_id, coalesce((select array_agg(k.id order by k.id) from labels k
        where k.workspace_id = @workspace_id and not k.id = any(@remove::uuid[])
          and (k.id = any(@add::uuid[])
               or k.id = any(s.label_ids) and not (k.kind = 'campaign' and @replaces_campaign::bool))), '{}')::uuid[]
                 as after
    from scheduled_posts s
    where s.workspace_id = @workspace_id and s.post_id = any(@post_ids::uuid[])
    for update
) l
where p.post_id = l.post_id and p.label_ids <> l.after
returning p.*;
