-- The durable life of each image request.

CREATE TABLE image_jobs (
  -- The id of the request that began it: the same in the ledger.
  job_id uuid PRIMARY KEY,
  project text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  model text NOT NULL,
  -- Of the canonical request: equal requests have equal digests.
  digest text NOT NULL,
  state text NOT NULL CHECK (state IN ('leased', 'dispatched', 'settled', 'failed', 'unknown')),
  -- Null once it may be used for another job.
  idempotency_key text COLLATE "C",
  -- It ended with nothing bought, and its request may begin another job.
  freed boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  answered_at timestamptz,
  node_id uuid,
  -- Grows with each holder: a statement with an older one changes nothing.
  token bigint NOT NULL,
  lease_until timestamptz NOT NULL,
  -- Each text is sealed like a credential: a data key sealed by the node's secret, and the text sealed by the data key.
  request_key bytea,
  request_sealed bytea,
  result_key bytea,
  result_sealed bytea,
  -- The request for which the job runs: the one that began it, or the retry that joined it. Null: no caller waits for it, or it
  -- has an idempotency key, which names its request by itself. A retry joins only a job whose own caller has left.
  caller_id uuid,
  -- When a node last said that this caller waits. No index knows it, so the row changes in place.
  caller_seen_at timestamptz,
  -- The nodes that have held it, and from when on: [{"node", "from"}].
  holders jsonb,
  -- The batch whose images it makes. Null: none.
  batch_id text COLLATE "C",
  player_kind text,
  player_name text COLLATE "C",
  CHECK ((player_kind IS NULL) = (player_name IS NULL))
-- A job that runs gets its lease renewed every few seconds: the row changes in place, since no index knows the lease.
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX image_jobs_by_idempotency_key ON image_jobs (project, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX image_jobs_by_digest ON image_jobs (key_id, digest, created_at);
CREATE INDEX image_jobs_open ON image_jobs (created_at, job_id) WHERE state IN ('leased', 'dispatched');
CREATE INDEX image_jobs_ended ON image_jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX image_jobs_by_project ON image_jobs (project, job_id DESC);

CREATE TABLE image_job_calls (
  job_id uuid NOT NULL REFERENCES image_jobs (job_id) ON DELETE CASCADE,
  -- As in the ledger.
  attempt smallint NOT NULL,
  part smallint NOT NULL,
  call_id uuid NOT NULL,
  images smallint NOT NULL,
  deployment text NOT NULL,
  state text NOT NULL CHECK (state IN ('sent', 'failed', 'delivered', 'unknown')),
  submitted_key bytea,
  submitted_sealed bytea,
  PRIMARY KEY (job_id, attempt)
);
