-- Image jobs that make the pictures of a batch.

-- Null: somebody asked for it by itself.
ALTER TABLE image_jobs ADD COLUMN batch_id text COLLATE "C";
