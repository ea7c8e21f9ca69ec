-- Whether somebody waits for an image job, so that a retry joins only a job whose own caller has left.

-- The request for which the job is run: the one that began it, or the retry that joined it. Null: nobody waits for it, or it
-- has an idempotency key, which says itself what is the same request.
ALTER TABLE image_jobs ADD COLUMN caller_id uuid;
-- When a node last said that this caller waits. No index knows it, so the row changes in place.
ALTER TABLE image_jobs ADD COLUMN caller_seen_at timestamptz;
