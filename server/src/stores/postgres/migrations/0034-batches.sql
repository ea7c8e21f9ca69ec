-- Batches and their chunks. Texts of callers are in files, not here.

CREATE TABLE batches (
  batch_id text COLLATE "C" PRIMARY KEY,
  project text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  -- What the key allowed when the batch was made.
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
  error_bytes bigint NOT NULL DEFAULT 0
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
  PRIMARY KEY (batch_id, chunk)
) WITH (fillfactor = 70);
CREATE INDEX batch_chunks_done ON batch_chunks (batch_id, done_number) WHERE part_token IS NOT NULL;
CREATE INDEX batch_chunks_held ON batch_chunks (batch_id, chunk) WHERE state = 'held';
