-- name: InsertReviewLink :one
-- No row: the post is not pending approval.
insert into review_links (id, workspace_id, post_id, post_version, secret_hash, name, created_by, expires_at)
select @id, p.workspace_id, p.post_id, p.version, @secret_hash, @name, sqlc.narg('created_by')::uuid, @expires_at
from scheduled_posts p
where p.post_id = @post_id and p.workspace_id = @workspace_id and p.status = 'draft' and p.approval = 'pending'
returning *;

-- name: ListReviewLinks :many
select sqlc.embed(l), (p.version = l.post_version and p.status = 'draft' and p.approval = 'pending')::bool
  as is_current, clock_timestamp()::timestamptz as now
from review_links l join scheduled_posts p on p.post_id = l.post_id
where l.workspace_id = @workspace_id and l.post_id = @post_id
order by l.created_at desc, l.id desc limit 100;

-- name: GetReviewLink :one
select sqlc.embed(l), (p.version = l.post_version and p.status = 'draft' and p.approval = 'pending')::bool
  as is_current, clock_timestamp()::timestamptz as now
from review_links l join scheduled_posts p on p.post_id = l.post_id
where l.secret_hash = @secret_hash;

-- name: RevokeReviewLink :one
update review_links set revoked_at = coalesce(revoked_at, clock_timestamp())
where id = @id and workspace_id = @workspace_id and decision is null
returning *;

-- name: DecideReviewLink :execrows
-- In the transaction of the decision: a link that was revoked meanwhile decides nothing.
update review_links set decision = @decision, comment = @comment, decided_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id and decision is null and revoked_at is null
  and expires_at > clock_timestamp();

-- name: ListComments :many
select c.*, u.name as user_name from post_comments c join users u on u.id = c.user_id
where c.workspace_id = @workspace_id and c.post_id = @post_id
order by c.created_at, c.id limit 500;

-- name: ListPeople :many
select m.user_id, (case when m.joined_at is null then coalesce(u.email, u.name) else u.name end)::text as name
from members m join users u on u.id = m.user_id
where m.workspace_id = @workspace_id order by lower(u.name), m.user_id limit 500;

-- name: InsertComment :one
-- No row: the post is not one of the workspace, or somebody mentioned is no member.
insert into post_comments (id, workspace_id, post_id, user_id, text, mentions)
select @id, p.workspace_id, p.post_id, @user_id, @text, @mentions::uuid[]
from scheduled_posts p
where p.post_id = @post_id and p.workspace_id = @workspace_id
  and cardinality(@mentions::uuid[]) = (select count(*) from members m where m.workspace_id = p.workspace_id
    and m.user_id = any(@mentions::uuid[]))
returning *;

-- name: DeleteComment :one
delete from post_comments where id = @id and workspace_id = @workspace_id and user_id = @user_id returning *;
