-- The actor in whose playground a batch, an image job or an upload began. Null: it began under a key. What the owner is, is in
-- these columns, and never in the form of a key's name.
ALTER TABLE batches ADD COLUMN player_kind text, ADD COLUMN player_name text COLLATE "C",
  ADD CHECK ((player_kind IS NULL) = (player_name IS NULL));
ALTER TABLE image_jobs ADD COLUMN player_kind text, ADD COLUMN player_name text COLLATE "C",
  ADD CHECK ((player_kind IS NULL) = (player_name IS NULL));
ALTER TABLE file_uploads ADD COLUMN player_kind text, ADD COLUMN player_name text COLLATE "C",
  ADD CHECK ((player_kind IS NULL) = (player_name IS NULL));

-- Until now an actor played under the key `console.<actor>`. Names of keys have neither '@' nor ':', so members and tokens are
-- certain. A token of the node is one where there never was a key of that name; otherwise it stays a key, whose work pauses.
UPDATE batches SET key_id = old.project || '/playground:' || name, player_name = name,
  player_kind = CASE WHEN name LIKE 'token:%' THEN 'token' WHEN name LIKE '%@%' THEN 'member' ELSE 'node' END
FROM (
  SELECT batch_id, project, key_id, substr(key_id, length(project || '/console.') + 1) AS name FROM batches
  WHERE starts_with(key_id, project || '/console.')
) AS old
WHERE old.batch_id = batches.batch_id AND (name LIKE 'token:%' OR name LIKE '%@%' OR (
  name IN ('local-admin', 'admin-token') AND NOT EXISTS (SELECT FROM keys WHERE keys.key_id = old.key_id)
  AND NOT EXISTS (SELECT FROM declared_key_uses AS uses WHERE uses.key_id = old.key_id)));

UPDATE image_jobs SET key_id = old.project || '/playground:' || name, player_name = name,
  player_kind = CASE WHEN name LIKE 'token:%' THEN 'token' WHEN name LIKE '%@%' THEN 'member' ELSE 'node' END
FROM (
  SELECT job_id, project, key_id, substr(key_id, length(project || '/console.') + 1) AS name FROM image_jobs
  WHERE starts_with(key_id, project || '/console.')
) AS old
WHERE old.job_id = image_jobs.job_id AND (name LIKE 'token:%' OR name LIKE '%@%' OR (
  name IN ('local-admin', 'admin-token') AND NOT EXISTS (SELECT FROM keys WHERE keys.key_id = old.key_id)
  AND NOT EXISTS (SELECT FROM declared_key_uses AS uses WHERE uses.key_id = old.key_id)));
