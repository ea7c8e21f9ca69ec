-- What every node keeps in memory: projects, keys, upstreams and models of the store, prices; and the nodes themselves.

-- The version of the directory. Each change of projects, keys, credentials or configuration raises it in the same transaction;
-- nodes read it once a second. A sequence would not do: its number is visible before the change that it stands for.
CREATE TABLE directory_version (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version bigint NOT NULL
);
INSERT INTO directory_version (version) VALUES (1);

-- A random mark of each version. A node continues its copy of the keys only if its last version has the same mark here: a store
-- that was restored to an earlier state has other marks from there on, and so has another store.
CREATE TABLE directory_marks (
  version bigint PRIMARY KEY,
  mark uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO directory_marks (version) SELECT version FROM directory_version;

CREATE FUNCTION mark_directory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO directory_marks (version) VALUES (NEW.version)
  ON CONFLICT (version) DO UPDATE SET mark = gen_random_uuid();
  -- A copy that is more changes behind is read again as a whole.
  DELETE FROM directory_marks WHERE version < NEW.version - 10000 OR version > NEW.version;
  RETURN NULL;
END $$;
-- Not for inserts: a restore brings the marks of its backup.
CREATE TRIGGER directory_marked AFTER UPDATE ON directory_version
  FOR EACH ROW EXECUTE FUNCTION mark_directory();

CREATE TABLE projects (
  -- Names and ids sort byte by byte, the same in every database and in our own code.
  project text COLLATE "C" PRIMARY KEY,
  limits jsonb NOT NULL DEFAULT '{}',
  budget jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Set when its data is to be deleted; a worker does the rest.
  deleted_at timestamptz,
  -- The version of the directory in which it last changed: nodes load what is newer than their copy.
  version bigint NOT NULL
);

-- Null in a column of terms: no such bound.
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
  version bigint NOT NULL,
  scopes text[],
  -- Requests in progress at the same time, on all nodes together.
  max_calls_at_once integer,
  -- Addresses and networks from which it may be used.
  addresses text[],
  first_used_at timestamptz,
  -- Revoked because a stranger may have the secret: work that began under the key is cancelled.
  leaked boolean NOT NULL DEFAULT false
);
CREATE INDEX keys_by_project ON keys (project);
CREATE INDEX keys_by_version ON keys (version);

-- A key has one secret, and the previous one too while it is being rotated.
CREATE TABLE key_secrets (
  digest bytea PRIMARY KEY,
  key_id text COLLATE "C" NOT NULL REFERENCES keys (key_id) ON DELETE CASCADE,
  -- A fingerprint of the pepper that made the digest, so that all nodes with the same secret agree.
  pepper text NOT NULL,
  -- The last characters, enough for an admin to recognise it.
  tail text NOT NULL,
  valid_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

-- Keys of torana.yaml have no row in `keys`; this table has their uses.
CREATE TABLE declared_key_uses (
  key_id text COLLATE "C" PRIMARY KEY,
  first_used_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE upstream_credentials (
  credential_id uuid PRIMARY KEY,
  upstream text NOT NULL UNIQUE,
  -- The secret is only ever sent here: another base URL drops it.
  base_url text NOT NULL,
  -- A data key sealed by the node's secret, and the secret sealed by the data key; both bound to credential_id.
  sealed_key bytea,
  sealed_secret bytea,
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- The last characters, enough for an admin to recognise it. Null: the secret is too short to show any.
  tail text
);

-- Upstreams and models that admins keep in the store, in the form of torana.yaml.
CREATE TABLE configuration_objects (
  object text COLLATE "C" NOT NULL CHECK (object IN ('upstream', 'model')),
  name text COLLATE "C" NOT NULL,
  -- As below `upstreams` or `models` of torana.yaml, without the secret, which is in upstream_credentials.
  entry jsonb NOT NULL,
  -- The version of the directory in which it last changed.
  revision bigint NOT NULL,
  changed_by text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (object, name)
);

CREATE TABLE configuration_changes (
  -- The version of the directory that the change made.
  change_id bigint PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  changed_by text NOT NULL,
  summary text NOT NULL,
  -- [{"object", "name", "renamedFrom", "before", "after"}]: entries, null where there was or is none.
  objects jsonb NOT NULL,
  -- The change that it takes back.
  reverts bigint
);

-- Prices set in the console, for deployments whose price torana.yaml leaves open.
CREATE TABLE prices (
  deployment text COLLATE "C" PRIMARY KEY,
  -- As in torana.yaml.
  price jsonb NOT NULL,
  set_by text NOT NULL,
  set_at timestamptz NOT NULL DEFAULT now()
);

-- The price of each deployment over time, whoever changed it: an admin, torana.yaml or the catalog of a new version.
CREATE TABLE price_changes (
  deployment text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Null: the first price on record, which is no change.
  before jsonb,
  after jsonb NOT NULL,
  changed_by text NOT NULL,
  PRIMARY KEY (deployment, at)
);
CREATE INDEX price_changes_by_time ON price_changes (at);

-- Fingerprints of the TORANA_SECRET of this database's nodes. A node with another one would refuse every stored key.
CREATE TABLE secret_fingerprints (
  fingerprint text COLLATE "C" PRIMARY KEY,
  -- While the secret is being changed there are two. The older one goes when a node no longer knows it.
  first_used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE nodes (
  -- A new id for each start of a process.
  node_id uuid PRIMARY KEY,
  host text NOT NULL,
  version text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  -- From here on nothing more is taken in its name: its open calls have become `unknown`, its leases have come home.
  ended_at timestamptz,
  -- A process that takes no requests has no share in limits, one without chores never leads.
  role text NOT NULL DEFAULT 'all',
  -- Its setup as of its last heartbeat, for torana doctor to compare. Null: it has not reported yet.
  setup jsonb,
  -- Whether the node writes late entries as corrections: no hour is sealed while one lives that does not.
  seals boolean NOT NULL DEFAULT false,
  -- Lead of the clock of the node's machine over the database's, as of its last heartbeat. Null: it has not reported yet. A node
  -- whose clock is wrong does no chores.
  clock_skew_ms double precision
);
