-- name: ListGroups :many
select * from account_groups where workspace_id = @workspace_id order by lower(name), id;

-- name: InsertGroup :one
-- No row: the workspace has the maximum number of groups.
insert into account_groups (id, workspace_id, name, color, account_ids, time_zone, slots)
select @id, @workspace_id, @name, @color, @account_ids, @time_zone, @slots
where (select count(*) from account_groups where workspace_id = @workspace_id) < @max_groups::int
returning *;

-- name: UpdateGroup :one
update account_groups set name = @name, color = @color, account_ids = @account_ids, time_zone = @time_zone, slots = @slots,
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
       or exists (select 1 from post_targets t where t.post_id = p.post_id and t.account_id = any(@account_ids::uuid[])));

-- name: QueuedPosts :many
-- The posts of queues in a time window.
select p.post_id, p.queue_group_id::uuid as queue_group_id, p.queue_slot::timestamptz as at from scheduled_posts p
where p.workspace_id = @workspace_id and p.listed_at >= @from_time and p.listed_at < @to_time and p.queue_slot is not null;
