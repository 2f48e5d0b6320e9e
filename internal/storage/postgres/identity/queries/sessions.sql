-- name: InsertSession :exec
insert into sessions (id, hash, user_id, workspace_id, created_at, last_used_at, user_agent, confined)
values (@id, @hash, @user_id, @workspace_id, @now, @now, @user_agent, @confined);

-- name: SessionByHash :one
select s.id, s.user_id, s.workspace_id, m.role, s.created_at, s.last_used_at, s.user_agent, s.confined
from sessions s join members m on m.workspace_id = s.workspace_id and m.user_id = s.user_id
where s.hash = @hash and s.created_at > @created_after and s.last_used_at > @used_after;

-- name: TouchSession :exec
update sessions set last_used_at = @now where id = @id and last_used_at < @now;

-- name: ListSessions :many
select s.id, s.user_id, s.workspace_id, m.role, s.created_at, s.last_used_at, s.user_agent, s.confined
from sessions s join members m on m.workspace_id = s.workspace_id and m.user_id = s.user_id
where s.user_id = @user_id and s.created_at > @created_after and s.last_used_at > @used_after
order by s.last_used_at desc, s.id;

-- name: MoveSession :execrows
update sessions s set workspace_id = @workspace_id
where s.id = @id and s.user_id = @user_id and not s.confined
  and exists (select from members m where m.workspace_id = @workspace_id and m.user_id = @user_id);

-- name: EndSession :execrows
delete from sessions where id = @id and user_id = @user_id;

-- name: EndSessionByHash :exec
delete from sessions where hash = @hash;

-- name: EndSessionsOf :exec
delete from sessions where user_id = @user_id;

-- name: DeleteOldSessions :exec
delete from sessions where created_at <= @created_before or last_used_at <= @used_before;

-- name: Memberships :many
select w.id, w.name, m.role
from members m join workspaces w on w.id = m.workspace_id
where m.user_id = @user_id order by m.created_at, w.created_at, w.id;

-- name: UserByID :one
select id, name, email from users where id = @id;

-- name: UserByEmail :one
select id, name, email from users where email = @email;

-- name: NameUser :exec
-- Names a user whose name is still the email address of the invitation.
update users set name = @name
where id = @id and name is distinct from @name and lower(name) = lower(email);

-- name: LockAdmissions :exec
-- Serializes logins of unknown users: two concurrent logins must not create two users
-- for one person. The number only has to differ from those of other locks.
select pg_advisory_xact_lock(6029340028);

-- name: UserByIdentity :one
select user_id from identities where issuer = @issuer and subject = @subject;

-- name: HasIdentity :one
select exists (select from identities where issuer = @issuer and user_id = @user_id);

-- name: InsertIdentity :exec
insert into identities (issuer, subject, user_id) values (@issuer, @subject, @user_id);

-- name: PutLoginLink :exec
insert into login_links (user_id, hash, expires_at) values (@user_id, @hash, @expires_at)
on conflict (user_id) do update set hash = excluded.hash, expires_at = excluded.expires_at;

-- name: UseLoginLink :one
delete from login_links where hash = @hash returning user_id, expires_at;

-- name: PutMemberLoginLink :exec
insert into member_login_links (workspace_id, user_id, hash, expires_at)
values (@workspace_id, @user_id, @hash, @expires_at)
on conflict (workspace_id, user_id) do update set hash = excluded.hash, expires_at = excluded.expires_at;

-- name: DeleteMemberLoginLink :execrows
delete from member_login_links where workspace_id = @workspace_id and user_id = @user_id;

-- name: UseMemberLoginLink :one
delete from member_login_links where hash = @hash returning workspace_id, user_id, expires_at;

-- name: UseLoginAnswer :execrows
insert into login_answers (hash, used_at) values (@hash, @now) on conflict (hash) do nothing;

-- name: DeleteOldLoginAnswers :exec
delete from login_answers where used_at < @used_before;
