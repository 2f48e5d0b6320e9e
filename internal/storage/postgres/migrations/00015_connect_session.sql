-- +goose Up

-- A connection that a browser's session began is completed in that session, and
-- ends with it. Null: it was begun with an API token.
alter table connect_attempts add column session_id uuid references sessions on delete cascade;

-- +goose Down
alter table connect_attempts drop column session_id;
