-- name: hold
-- Waits while another transaction holds the same key of the same account.
SELECT pg_advisory_xact_lock(hashtextextended(CAST(:idempotency_key AS text), CAST(:account_id AS bigint)))
