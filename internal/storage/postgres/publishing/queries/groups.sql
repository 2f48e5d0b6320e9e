-- name: ListGroups :many
select * from account_groups where workspace_id = @workspace_id order by lower(name), id;

-- name: InsertGroup :one
-- No row: the workspace has the maximum number of groups.
insert into account_groups (id, workspace_id, name, color, account_ids, time_zone, slots)
select @id, @workspace_id, @name, @color, @account_ids, @time_zone, @slots
where (select count(*) from account_groups where workspace_id = @workspace_id) < @max_groups::int
returning *;

-- name: UpdateGroup :one
update account_groups set name = @name, color = @color, account_ids = @account_ids, time_zone = @time_zone,
  slots = @slots,
    updated_at = clock_timestamp()
where id = @id and workspace_id = @workspace_id
returning *;

-- name: DeleteGroup :execrows
delete from account_groups where id = @id and workspace_id = @workspace_id;

-- name: TakenSlots :many
-- Which of the times are taken for some accounts: by a post of the queue, or by any
-- other post on one of the accounts at that time.
select p.listed_at::timestamptz as at from scheduled_posts p
where p.workspace_id = @workspace_id and p.listed_at = any(@ats::timestamptz[]) and p.post_id <> @except_post
  and (p.status not in ('draft', 'canceled') or p.approval = 'pending')
  and (p.queue_group_id = @group_id::uuid
       or exists (select 1 from post_targets t where t.post_id = p.post_id
         and t.account_id = any(@account_ids::uuid[])));

-- name: QueuedPosts :many
-- The posts of queues in a time window.
select p.post_id, p.queue_group_id::uuid as queue_group_id, p.queue_slot::timestamptz as at from scheduled_posts p
where p.workspace_id = @workspace_id and p.listed_at >= @from_time and p.listed_at < @to_time
  and p.queue_slot is not null;

-- name: LockGroup :one
-- One change of a queue's order at a time. A foreign key's check of a post that enters
-- the queue does not wait for this lock, nor for LockQueue's: the change may wait for
-- that post's slot.
select id from account_groups where id = @id and workspace_id = @workspace_id for no key update;

-- name: LockQueue :many
-- The posts of a queue that can still change places. The next seconds belong to
-- publishing.
select p.post_id, p.scheduled_time::timestamptz as at from scheduled_posts p
where p.workspace_id = @workspace_id and p.queue_group_id = @group_id::uuid and p.status = 'scheduled'
  and p.queue_slot > clock_timestamp() + interval '15 seconds'
order by p.post_id
for no key update;

-- name: LeaveSlots :exec
-- Frees the slots of posts that are about to get others: the index checks every row.
update scheduled_posts set queue_group_id = null where post_id = any(@post_ids::uuid[]);

-- name: EnterSlots :many
update scheduled_posts p set queue_group_id = @group_id::uuid, scheduled_time = w.at, late_noted_at = null,
    version = p.version + 1, revision = p.revision + 1, updated_at = clock_timestamp()
from (select unnest(@post_ids::uuid[]) as post_id, unnest(@ats::timestamptz[]) as at) w
where p.post_id = w.post_id
returning p.*;

-- name: HasEarlyReply :one
-- Whether one of the posts, or a reply to one, is scheduled before the post that it
-- replies to.
select exists (
    select 1 from scheduled_posts r join scheduled_posts parent on parent.post_id = r.thread_parent_id
    where (r.post_id = any(@post_ids::uuid[]) or parent.post_id = any(@post_ids::uuid[]))
      and r.status = 'scheduled' and parent.status = 'scheduled' and r.scheduled_time < parent.scheduled_time);
