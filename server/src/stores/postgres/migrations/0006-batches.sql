-- Files, uploads and batches. Texts of callers are in blobs, not here.

-- Files that callers sent, and files that batches make. Their bytes are blobs; a row says where.
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
  -- From here on no caller finds it: it was deleted, has expired, or has not arrived in time.
  ends_at timestamptz NOT NULL,
  -- While it arrives: the size that its sender announced.
  announced_bytes bigint NOT NULL DEFAULT 0,
  -- Its size in the blob store, its list of chunks included.
  received_bytes bigint NOT NULL DEFAULT 0
);
CREATE INDEX files_by_project ON files (project, file_id);
CREATE INDEX files_by_end ON files (ends_at);
CREATE INDEX files_of_batch ON files (batch_id) WHERE batch_id IS NOT NULL;

-- Batches that work with the bytes of a file, which stay as long.
CREATE TABLE file_holds (
  file_id text COLLATE "C" NOT NULL REFERENCES files (file_id) ON DELETE CASCADE,
  holder text COLLATE "C" NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (file_id, holder)
);

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
  expires_at timestamptz NOT NULL,
  -- The actor in whose playground it began. Null: it began under a key. The owner of work is in these two columns, here and below, and
  -- never in the form of a key's name.
  player_kind text,
  player_name text COLLATE "C",
  CHECK ((player_kind IS NULL) = (player_name IS NULL))
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

CREATE TABLE batches (
  batch_id text COLLATE "C" PRIMARY KEY,
  project text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  -- The rights of the key when the batch was made.
  terms text NOT NULL,
  endpoint text NOT NULL,
  input_file_id text COLLATE "C" NOT NULL,
  output_file_id text COLLATE "C" NOT NULL,
  error_file_id text COLLATE "C" NOT NULL,
  model text,
  digest text NOT NULL,
  idempotency_key text COLLATE "C",
  metadata jsonb,
  errors jsonb NOT NULL,
  state text NOT NULL CHECK (state IN ('in_progress', 'cancelling', 'completed', 'failed', 'expired', 'cancelled')),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  cancelling_at timestamptz,
  ended_at timestamptz,
  results_kept_ms bigint NOT NULL,
  lines integer NOT NULL,
  chunks integer NOT NULL,
  -- Chunks from here on have never been claimed: a claim takes numbers, and looks at no chunk that is done.
  next_chunk integer NOT NULL DEFAULT 0,
  done_chunks integer NOT NULL DEFAULT 0,
  -- When a chunk of it was claimed last: projects take turns by it.
  claimed_at timestamptz,
  not_before timestamptz NOT NULL DEFAULT now(),
  pause_code text,
  completed integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  expired integer NOT NULL DEFAULT 0,
  tokens bigint NOT NULL DEFAULT 0,
  cost_nano_usd bigint NOT NULL DEFAULT 0,
  output_bytes bigint NOT NULL DEFAULT 0,
  error_bytes bigint NOT NULL DEFAULT 0,
  -- Of the tokens: those of the answers. Images have some.
  output_tokens bigint NOT NULL DEFAULT 0,
  -- The vector spaces of its results: what has left its space is made again.
  spaces text[] NOT NULL DEFAULT '{}',
  -- Lines whose results were dropped, since they had left their space.
  dropped_lines integer NOT NULL DEFAULT 0,
  -- The room of its results: the sum of its chunks.
  kept_bytes bigint NOT NULL DEFAULT 0,
  -- An operator lets the batch go on without its key: by the terms of its project.
  continued boolean NOT NULL DEFAULT false,
  -- Why Torana cancelled it: the code of a fault. Null: an actor did, or nothing was cancelled.
  cancel_code text,
  tags jsonb,
  -- A pause by an actor, beside the pauses that Torana makes and ends by itself.
  paused_at timestamptz,
  paused_by text,
  pause_reason text,
  player_kind text,
  player_name text COLLATE "C",
  CHECK ((player_kind IS NULL) = (player_name IS NULL))
-- Its counters change with every chunk: the row changes in place, since no index knows them.
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX batches_by_idempotency_key ON batches (project, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX batches_by_digest ON batches (key_id, digest, created_at);
CREATE INDEX batches_of_project ON batches (project, batch_id);
CREATE INDEX batches_open ON batches (project, expires_at) WHERE ended_at IS NULL;
CREATE INDEX batches_ended ON batches (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE batch_chunks (
  batch_id text COLLATE "C" NOT NULL REFERENCES batches (batch_id) ON DELETE CASCADE,
  chunk integer NOT NULL,
  first_byte bigint NOT NULL,
  bytes integer NOT NULL,
  first_line integer NOT NULL,
  lines integer NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'held', 'done')),
  node_id uuid,
  -- Grows with each holder: a statement with an older one changes nothing.
  token integer NOT NULL DEFAULT 0,
  lease_until timestamptz,
  -- How many chunks of its batch had ended with it: results come in this order, so that a file that grows keeps its beginning.
  done_number integer,
  -- Where its results lie; null: there are none.
  part_token integer,
  head_bytes integer NOT NULL DEFAULT 0,
  output_bytes bigint NOT NULL DEFAULT 0,
  error_bytes bigint NOT NULL DEFAULT 0,
  done_at timestamptz,
  -- Lines that failed, by the code of the fault; null: none.
  faults jsonb,
  -- The deployments that made its vectors. Null: there is no vector in its results.
  made jsonb,
  -- Room of its results: reserved before its lines run, then the bytes that are kept.
  kept_bytes bigint NOT NULL DEFAULT 0,
  -- Lines between its first and its last byte that are not part of it, as a bitmap in base64. Null: all of them are part of it.
  without text,
  PRIMARY KEY (batch_id, chunk)
) WITH (fillfactor = 70);
CREATE INDEX batch_chunks_done ON batch_chunks (batch_id, done_number) WHERE part_token IS NOT NULL;
CREATE INDEX batch_chunks_held ON batch_chunks (batch_id, chunk) WHERE state = 'held';
