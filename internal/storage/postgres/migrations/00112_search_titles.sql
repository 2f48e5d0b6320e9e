-- +goose NO TRANSACTION
-- +goose Up
-- The words of the title fields with the time buckets of the publication, so that one index answers for a common word
-- among the newest articles. Names of buckets: internal/news/search/pgsearch/timebucket.go.
-- +goose StatementBegin
create or replace function search_titles(title_words tsvector, published_at timestamptz) returns tsvector
language sql immutable parallel safe as $$
    select title_words || array_to_tsvector(array[
        '@0' || trunc(extract(epoch from published_at) / 3600)::bigint,
        '@1' || (trunc(extract(epoch from published_at) / 3600)::bigint >> 3),
        '@2' || (trunc(extract(epoch from published_at) / 3600)::bigint >> 6),
        '@3' || (trunc(extract(epoch from published_at) / 3600)::bigint >> 9),
        '@4' || (trunc(extract(epoch from published_at) / 3600)::bigint >> 12),
        '@5' || (trunc(extract(epoch from published_at) / 3600)::bigint >> 15)])
$$;
-- +goose StatementEnd
-- A build that was interrupted leaves an index that is not used.
-- +goose StatementBegin
do $$ begin
    if exists (select from pg_index where indexrelid = to_regclass('search_documents_titles') and not indisvalid) then
        drop index search_documents_titles;
    end if;
end $$;
-- +goose StatementEnd
create index concurrently if not exists search_documents_titles
    on search_documents using gin (search_titles(title_words, published_at)) with (gin_pending_list_limit = 512);
drop index concurrently if exists search_documents_title_words;

-- +goose Down
create index concurrently if not exists search_documents_title_words on search_documents using gin (title_words)
    with (gin_pending_list_limit = 512);
drop index concurrently if exists search_documents_titles;
drop function if exists search_titles(tsvector, timestamptz);
