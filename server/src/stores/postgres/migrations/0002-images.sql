-- Image jobs, and events for webhooks.

CREATE TABLE image_jobs (
  -- The id of the request that began it: the same in the ledger.
  job_id uuid PRIMARY KEY,
  project text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  model text NOT NULL,
  -- Of the canonical request: equal digests ask for the same.
  digest text NOT NULL,
  state text NOT NULL CHECK (state IN ('leased', 'dispatched', 'settled', 'failed', 'unknown')),
  -- Null once it may be used for another job.
  idempotency_key text COLLATE "C",
  -- It ended with nothing bought, and may be asked for anew.
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
  result_sealed bytea
-- A job that runs gets its lease renewed every few seconds: the row changes in place, since no index knows the lease.
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX image_jobs_by_idempotency_key ON image_jobs (project, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX image_jobs_by_digest ON image_jobs (key_id, digest, created_at);
CREATE INDEX image_jobs_open ON image_jobs (created_at, job_id) WHERE state IN ('leased', 'dispatched');
CREATE INDEX image_jobs_ended ON image_jobs (ended_at) WHERE ended_at IS NOT NULL;

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

-- Events that are to be sent. Those that were stay for a while, so that the same event is not sent again.
CREATE TABLE webhook_events (
  event_id text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  -- With the URL it finds the secret, which is not kept here.
  project text COLLATE "C" NOT NULL,
  type text NOT NULL,
  -- Text, not jsonb: every try sends the same bytes.
  payload text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When it is tried next. While somebody tries, it is when he counts as gone.
  due_at timestamptz NOT NULL DEFAULT now(),
  tries smallint NOT NULL DEFAULT 0,
  -- Who tried last.
  node_id uuid,
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('sent', 'given-up')),
  PRIMARY KEY (event_id, url)
);
CREATE INDEX webhook_events_waiting ON webhook_events (due_at) WHERE ended_at IS NULL;
CREATE INDEX webhook_events_ended ON webhook_events (ended_at) WHERE ended_at IS NOT NULL;
