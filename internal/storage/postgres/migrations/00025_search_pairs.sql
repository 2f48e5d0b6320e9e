-- +goose Up

-- Which words stand next to each other is in the words too from now on, so that
-- a phrase is found without reading every text that has its words. Rows that
-- were made before are made anew.
alter table search_documents add column paired boolean not null default false;
-- Of the words of which Postgres knows how frequent they are, most were frequent ones.
alter table search_documents alter column words set statistics 300;
insert into article_changes (article_id, kind) select id, 'upsert' from search_documents;

-- +goose Down
alter table search_documents alter column words set statistics -1;
alter table search_documents drop column paired;
