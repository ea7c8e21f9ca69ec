-- Files of rows from which a person makes a batch. The row in `files` has no purpose, so callers do not see it, and its
-- end is the end of the draft.
CREATE TABLE batch_drafts (
  file_id text COLLATE "C" PRIMARY KEY REFERENCES files (file_id) ON DELETE CASCADE,
  actor text COLLATE "C" NOT NULL,
  name text NOT NULL,
  bytes bigint NOT NULL,
  segments text NOT NULL
);

-- The file of requests that a run of a draft made: a second run with the same options is the same batch.
CREATE TABLE batch_draft_runs (
  file_id text COLLATE "C" NOT NULL REFERENCES batch_drafts (file_id) ON DELETE CASCADE,
  digest text COLLATE "C" NOT NULL,
  input_file_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (file_id, digest)
);

-- A pause by a person, beside the pauses that Torana makes and ends by itself.
ALTER TABLE batches ADD COLUMN paused_at timestamptz, ADD COLUMN paused_by text, ADD COLUMN pause_reason text,
  -- Rows of the corpus that its lines come from; null: it was not made from one.
  ADD COLUMN corpus_rows integer;
