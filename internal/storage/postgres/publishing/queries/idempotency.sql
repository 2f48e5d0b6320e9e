-- name: DeleteOldIdempotencyKeys :execrows
delete from idempotency_keys where created_at < now() - interval '7 days';
