-- name: DatabaseTime :one
select clock_timestamp()::timestamptz;
