-- +goose Up
-- Embeddings, as search_vectors had them, but rotated: signs of rotated vectors say much more. The articles are
-- embedded again, because rotating cannot be done here. Processes of the previous version still use search_vectors,
-- which can be dropped in the version after this one.
create table search_embeddings (
    id     uuid primary key references search_documents on delete cascade,
    source uuid not null,                        -- identifies the embedding model and text
    signs  bit varying not null,
    vector real[] not null,
    changed_at timestamptz not null default clock_timestamp() -- processes keep the signs in memory and read changes
);
create index search_embeddings_changed on search_embeddings (changed_at);
alter table search_embeddings alter column vector set storage external;

-- +goose Down
drop table search_embeddings;
