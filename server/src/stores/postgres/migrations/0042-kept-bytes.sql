-- What a project keeps in all: files, files that are arriving, and results of batches.

ALTER TABLE files
  -- While it arrives: the size that its sender announced.
  ADD COLUMN announced_bytes bigint NOT NULL DEFAULT 0,
  -- What is kept of it, its list of chunks included. Files of an earlier version have only `bytes`.
  ADD COLUMN received_bytes bigint NOT NULL DEFAULT 0;
CREATE INDEX files_of_batch ON files (batch_id) WHERE batch_id IS NOT NULL;

-- Room of results: reserved before the lines of a chunk run, then the bytes that are kept. The batch has the sum of its chunks.
ALTER TABLE batch_chunks ADD COLUMN kept_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE batches ADD COLUMN kept_bytes bigint NOT NULL DEFAULT 0;
UPDATE batches SET kept_bytes = output_bytes + error_bytes WHERE output_bytes + error_bytes > 0;
