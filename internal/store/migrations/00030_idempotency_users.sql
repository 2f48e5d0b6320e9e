-- +goose Up

-- Keys belong to whoever sent the request: with one key space per workspace, a
-- member could learn from the answer which keys another one had used, and take
-- them first. Requests of before, at most a week old, belong to nobody.
alter table idempotency_keys
    add column user_id uuid not null default '00000000-0000-0000-0000-000000000000',
    drop constraint idempotency_keys_pkey,
    add primary key (workspace_id, user_id, key);
alter table idempotency_keys alter column user_id drop default;

-- +goose Down
delete from idempotency_keys k
where exists (select from idempotency_keys o where o.workspace_id = k.workspace_id and o.key = k.key and o.user_id < k.user_id);
alter table idempotency_keys
    drop constraint idempotency_keys_pkey,
    add primary key (workspace_id, key),
    drop column user_id;
