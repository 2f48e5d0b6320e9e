-- +goose Up

-- When an article came out is in its words too from now on, by names of stretches
-- of time, so that a word which most articles have is found among the newest by
-- one index. Rows that were made before are made anew.
alter table search_documents add column dated boolean not null default false;
insert into article_changes (article_id, kind) select id, 'upsert' from search_documents;

-- +goose Down
alter table search_documents drop column dated;
