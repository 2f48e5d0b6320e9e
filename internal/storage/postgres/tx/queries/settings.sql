-- name: GetSetting :one
select value from settings where key = @key;

-- name: PutSetting :exec
insert into settings (key, value) values (@key, @value)
on conflict (key) do update set value = excluded.value, updated_at = now();
