-- Projects, keys, nodes, budgets and the ledger. Migrations only ever add: a node of the version before keeps working.

-- One row that changes with every change of projects, keys or credentials, in the same transaction. Nodes look at it once a
-- second. A sequence would not do: its number is visible before the change it stands for.
CREATE TABLE directory_version (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version bigint NOT NULL
);
INSERT INTO directory_version (version) VALUES (1);

CREATE TABLE projects (
  -- Names and ids sort byte by byte, the same in every database and in our own code.
  project text COLLATE "C" PRIMARY KEY,
  limits jsonb NOT NULL DEFAULT '{}',
  budget jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Set when its data is to be deleted; a worker does the rest.
  deleted_at timestamptz,
  -- The directory version of its last change: nodes load what is newer than what they have.
  version bigint NOT NULL
);

CREATE TABLE keys (
  -- `<project>/<name>`, as for keys of torana.yaml: the same id in the ledger, whichever way a key is managed.
  key_id text COLLATE "C" PRIMARY KEY,
  project text COLLATE "C" NOT NULL REFERENCES projects (project),
  name text NOT NULL,
  models text[],
  limits jsonb NOT NULL DEFAULT '{}',
  budget jsonb,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  version bigint NOT NULL
);
CREATE INDEX keys_by_project ON keys (project);
CREATE INDEX keys_by_version ON keys (version);

-- A key has one secret, and while it is being rotated the one before, until that one's end.
CREATE TABLE key_secrets (
  digest bytea PRIMARY KEY,
  key_id text COLLATE "C" NOT NULL REFERENCES keys (key_id) ON DELETE CASCADE,
  -- Which pepper made the digest: a fingerprint of it, so that all nodes with the same secret agree.
  pepper text NOT NULL,
  -- The last characters, enough for a person to recognise it.
  tail text NOT NULL,
  valid_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

CREATE TABLE upstream_credentials (
  credential_id uuid PRIMARY KEY,
  upstream text NOT NULL UNIQUE,
  -- The secret is only ever sent here: another base URL drops it.
  base_url text NOT NULL,
  -- A data key sealed by the node's secret, and the secret sealed by the data key; both bound to credential_id.
  sealed_key bytea,
  sealed_secret bytea,
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE nodes (
  -- A new id for each start of a process.
  node_id uuid PRIMARY KEY,
  host text NOT NULL,
  version text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  -- From here on nothing more is taken in its name: its open calls have become `unknown`, its leases have come home.
  ended_at timestamptz
);

CREATE TABLE audit (
  -- Without gaps: a number that is missing was taken out.
  sequence bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}',
  -- SHA-256 over the row before and this one: a row that was changed or taken out shows.
  hash bytea NOT NULL
);

-- Money. All amounts are nano-dollars.

CREATE TABLE budgets (
  -- `project:<name>` or `key:<id>`.
  budget_id text NOT NULL,
  window_start timestamptz NOT NULL,
  window_end timestamptz NOT NULL,
  limit_nano bigint NOT NULL,
  spent_nano bigint NOT NULL DEFAULT 0,
  -- Sum of `leases.amount_nano` of this window.
  leased_nano bigint NOT NULL DEFAULT 0,
  -- Once `spent_nano` holds what was in the window before the row was; nothing is leased before.
  seeded boolean NOT NULL DEFAULT false,
  PRIMARY KEY (budget_id, window_start)
) WITH (fillfactor = 50);

-- What a node may still spend without asking: it admits requests against it in memory.
CREATE TABLE leases (
  budget_id text NOT NULL,
  window_start timestamptz NOT NULL,
  node_id uuid NOT NULL,
  amount_nano bigint NOT NULL,
  -- The last change and what it moved: asked again after a lost answer, it is not done again.
  operation uuid NOT NULL,
  operation_nano bigint NOT NULL,
  PRIMARY KEY (budget_id, window_start, node_id),
  FOREIGN KEY (budget_id, window_start) REFERENCES budgets (budget_id, window_start)
) WITH (fillfactor = 50);

-- The ledger. Rows are added, never changed. The request id is a UUIDv7, so a range of ids is a range of time, and the
-- partition key is the key that makes a record count once.
CREATE TABLE usage_events (
  request_id uuid NOT NULL,
  attempt smallint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('intent', 'post', 'void', 'unknown', 'adjust')),
  -- The exchange with the upstream. Several requests may share one; a request may have several. It has no index of its own:
  -- it is a UUIDv7 too, so the requests around its moment are the ones to look at.
  call_id uuid NOT NULL,
  node_id uuid NOT NULL,
  project text NOT NULL,
  key_id text NOT NULL,
  model text NOT NULL,
  deployment text NOT NULL,
  -- Where the token figure comes from; null tokens are unknown, which is not zero.
  usage text NOT NULL CHECK (usage IN ('upstream', 'estimated', 'unknown')),
  tokens bigint,
  images integer NOT NULL DEFAULT 0,
  -- What the row adds to what was spent; null when the model has no price. An `unknown` adds what was reserved; the `post`
  -- or `void` that resolves it adds the difference. So the sum over all rows is always what was spent.
  amount_nano bigint,
  written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (request_id, attempt, kind)
) PARTITION BY RANGE (request_id);
-- Takes what no partition was made for, so that a wrong clock loses nothing. A worker reports when it holds rows.
CREATE TABLE usage_events_rest PARTITION OF usage_events DEFAULT;
CREATE INDEX usage_events_unknown ON usage_events (request_id) WHERE kind = 'unknown';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER usage_events_append_only BEFORE UPDATE OR DELETE ON usage_events
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Moves in the same statement as the ledger, only for rows really inserted. A shard per writer keeps nodes out of each
-- other's way; readers add them up.
CREATE TABLE usage_hours (
  hour timestamptz NOT NULL,
  project text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  shard smallint NOT NULL,
  posts bigint NOT NULL DEFAULT 0,
  unknowns bigint NOT NULL DEFAULT 0,
  tokens bigint NOT NULL DEFAULT 0,
  images bigint NOT NULL DEFAULT 0,
  amount_nano bigint NOT NULL DEFAULT 0,
  -- Rows without a price: their cost is not in `amount_nano`.
  unpriced bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, project, key_id, model, deployment, shard)
) WITH (fillfactor = 50);

-- Made from the hours by a worker, for questions about months.
CREATE TABLE usage_days (
  day date NOT NULL,
  project text NOT NULL,
  key_id text NOT NULL,
  model text NOT NULL,
  deployment text NOT NULL,
  posts bigint NOT NULL,
  unknowns bigint NOT NULL,
  tokens bigint NOT NULL,
  images bigint NOT NULL,
  amount_nano bigint NOT NULL,
  unpriced bigint NOT NULL,
  PRIMARY KEY (day, project, key_id, model, deployment)
);

-- The request log: what happened to each request, never what was in it.
CREATE TABLE requests (
  request_id uuid NOT NULL PRIMARY KEY,
  route text NOT NULL,
  status smallint NOT NULL,
  fault text,
  project text,
  key_id text,
  model text,
  deployments text,
  attempts smallint,
  inputs integer,
  tokens bigint,
  amount_nano bigint,
  client_request_id text,
  duration_ms real NOT NULL,
  -- Milliseconds of each step, and one entry a call.
  steps jsonb
) PARTITION BY RANGE (request_id);
CREATE TABLE requests_rest PARTITION OF requests DEFAULT;
