-- +goose NO TRANSACTION
-- +goose Up

-- Each search asks whether a row from before is left.
create index concurrently if not exists search_documents_old on search_documents (id) where not (paired and dated);

-- +goose Down
drop index concurrently if exists search_documents_old;
