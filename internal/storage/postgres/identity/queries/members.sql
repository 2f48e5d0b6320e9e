-- name: InsertMember :execrows
insert into members (workspace_id, user_id, role, joined_at)
values (@workspace_id, @user_id, @role, case when @joined::boolean then now() end)
on conflict (workspace_id, user_id) do nothing;

-- name: GetMember :one
-- Invited users are shown by the address that the inviter knows: the name may come from
-- another workspace.
select m.user_id, m.role, m.created_at, m.joined_at, u.email, l.expires_at as login_link_expires_at,
    (case when m.joined_at is null then coalesce(u.email, u.name) else u.name end)::text as name
from members m join users u on u.id = m.user_id
left join member_login_links l
  on l.workspace_id = m.workspace_id and l.user_id = m.user_id and l.expires_at > now()
where m.workspace_id = @workspace_id and m.user_id = @user_id;

-- name: ListMembers :many
select m.user_id, m.role, m.created_at, m.joined_at, u.email, l.expires_at as login_link_expires_at,
    (case when m.joined_at is null then coalesce(u.email, u.name) else u.name end)::text as name
from members m join users u on u.id = m.user_id
left join member_login_links l
  on l.workspace_id = m.workspace_id and l.user_id = m.user_id and l.expires_at > now()
where m.workspace_id = @workspace_id
  and (sqlc.narg('after_time')::timestamptz is null
       or (m.created_at, m.user_id) > (sqlc.narg('after_time'), sqlc.narg('after_id')::uuid))
order by m.created_at, m.user_id limit @page_size;

-- name: LockMember :one
-- Locks the member against removal until the transaction ends.
select role from members where workspace_id = @workspace_id and user_id = @user_id for share;

-- name: SetRole :execrows
-- Refused if no owner who has ever logged in would be left. Callers hold LockWorkspace.
update members m set role = @role
where m.workspace_id = @workspace_id and m.user_id = @user_id
  and (m.role <> 'owner' or @role::member_role = 'owner' or exists (
        select 1 from members o where o.workspace_id = @workspace_id and o.user_id <> @user_id
            and o.role = 'owner' and o.joined_at is not null));

-- name: DeleteMember :execrows
-- Like SetRole.
delete from members m
where m.workspace_id = @workspace_id and m.user_id = @user_id
  and (m.role <> 'owner' or exists (
        select 1 from members o where o.workspace_id = @workspace_id and o.user_id <> @user_id
            and o.role = 'owner' and o.joined_at is not null));

-- name: DropAttemptsOfMember :exec
delete from connect_attempts where workspace_id = @workspace_id and user_id = @user_id;

-- name: DropChoicesOfMember :exec
delete from account_choices where workspace_id = @workspace_id and user_id = @user_id;

-- name: JoinWorkspaces :many
update members set joined_at = coalesce(joined_at, now())
where user_id = @user_id
  and (sqlc.narg('only_workspace')::uuid is null or workspace_id = sqlc.narg('only_workspace'))
returning workspace_id;
