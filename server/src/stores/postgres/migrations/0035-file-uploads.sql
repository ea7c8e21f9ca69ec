-- Files that arrive in parts.

CREATE TABLE file_uploads (
  upload_id text COLLATE "C" PRIMARY KEY,
  -- Begun before the upload. Whatever becomes of the upload, its bytes go with this row.
  file_id text COLLATE "C" NOT NULL REFERENCES files (file_id) ON DELETE CASCADE,
  project text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  filename text NOT NULL,
  bytes bigint NOT NULL,
  expires_after_ms bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'completed', 'cancelled')),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX file_uploads_by_file ON file_uploads (file_id);

CREATE TABLE file_upload_parts (
  part_id text COLLATE "C" PRIMARY KEY,
  upload_id text COLLATE "C" NOT NULL REFERENCES file_uploads (upload_id) ON DELETE CASCADE,
  bytes bigint NOT NULL,
  segments text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX file_upload_parts_by_upload ON file_upload_parts (upload_id);
