-- Files that callers sent, and files that batches make. Their bytes are blobs: here stands where.

CREATE TABLE files (
  file_id text COLLATE "C" PRIMARY KEY,
  project text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  -- Null while it arrives.
  purpose text CHECK (purpose IN ('batch', 'batch_output')),
  filename text NOT NULL DEFAULT '',
  bytes bigint NOT NULL DEFAULT 0,
  sha256 text,
  -- JSON as text: names in it may hold what jsonb refuses.
  scan text,
  segments text,
  -- Of files that a batch makes: whose bytes these are.
  batch_id text COLLATE "C",
  half text CHECK (half IN ('output', 'error')),
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  -- From here on nobody finds it: it was deleted, has expired, or has not arrived in time.
  ends_at timestamptz NOT NULL
);
CREATE INDEX files_by_project ON files (project, file_id);
CREATE INDEX files_by_end ON files (ends_at);

-- Batches that work with the bytes of a file, which stay as long.
CREATE TABLE file_holds (
  file_id text COLLATE "C" NOT NULL REFERENCES files (file_id) ON DELETE CASCADE,
  holder text COLLATE "C" NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (file_id, holder)
);
