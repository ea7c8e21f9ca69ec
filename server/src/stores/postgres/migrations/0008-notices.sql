-- Events for the webhooks of projects, and alerts: rules and channels of the store, incidents, and the notices that wait for channels.

-- Sent events stay for a while, so that the same event is not sent again.
CREATE TABLE webhook_events (
  event_id text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  -- Finds the secret together with the URL; the secret is not kept here.
  project text COLLATE "C" NOT NULL,
  type text NOT NULL,
  -- Text, not jsonb: every try sends the same bytes.
  payload text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The next try. During a try: when its node counts as gone.
  due_at timestamptz NOT NULL DEFAULT now(),
  tries smallint NOT NULL DEFAULT 0,
  -- The node of the last try.
  node_id uuid,
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('sent', 'given-up')),
  PRIMARY KEY (event_id, url)
);
CREATE INDEX webhook_events_waiting ON webhook_events (due_at) WHERE ended_at IS NULL;
CREATE INDEX webhook_events_ended ON webhook_events (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX webhook_events_by_project ON webhook_events (project, created_at DESC);

CREATE TABLE alert_channels (
  channel_id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  kind text NOT NULL,
  -- The part of the address that an admin recognises. The whole is sealed.
  masked text NOT NULL,
  keeps_quiet boolean NOT NULL,
  sealed_key bytea NOT NULL,
  sealed_secret bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE alert_rules (
  rule_id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  is_on boolean NOT NULL,
  kind text NOT NULL,
  condition jsonb NOT NULL,
  -- Null: the installation. `*`: each project.
  project text,
  channels text[] NOT NULL,
  quiet jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- No row: nothing was ever muted.
CREATE TABLE alert_mute (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  muted_until timestamptz,
  muted_by text NOT NULL
);

CREATE TABLE alert_incidents (
  -- UUIDv7: sorts by time.
  incident_id uuid PRIMARY KEY,
  kind text NOT NULL,
  -- What its findings have in common, such as an upstream.
  cause text COLLATE "C" NOT NULL,
  -- Empty: the installation.
  project text COLLATE "C" NOT NULL,
  rules text[] NOT NULL,
  severity text NOT NULL,
  title text NOT NULL,
  -- Sentences, subjects and figures. Never a key or a text.
  detail jsonb NOT NULL,
  -- Marks reached, such as 80 and 100 percent.
  level smallint NOT NULL,
  grouped integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz
);
-- An incident starts once, whichever nodes see it.
CREATE UNIQUE INDEX alert_incidents_open ON alert_incidents (kind, cause, project) WHERE ended_at IS NULL;
CREATE INDEX alert_incidents_ended ON alert_incidents (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE alert_notices (
  incident_id uuid NOT NULL REFERENCES alert_incidents ON DELETE CASCADE,
  channel_id text COLLATE "C" NOT NULL,
  -- The order in which a channel gets them.
  sequence smallint NOT NULL,
  phase text NOT NULL,
  notice jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The end of the quiet hours that hold it.
  held_until timestamptz,
  is_muted boolean NOT NULL DEFAULT false,
  due_at timestamptz NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  ended_at timestamptz,
  outcome text,
  PRIMARY KEY (incident_id, channel_id, sequence)
);
CREATE INDEX alert_notices_waiting ON alert_notices (channel_id, tries, created_at) WHERE ended_at IS NULL;
CREATE INDEX alert_notices_created ON alert_notices (created_at);

-- One notice of a channel is in flight at a time.
CREATE TABLE alert_queues (
  channel_id text COLLATE "C" PRIMARY KEY,
  next_at timestamptz NOT NULL DEFAULT now(),
  held_until timestamptz NOT NULL DEFAULT now(),
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz
);

CREATE TABLE alert_deliveries (
  delivery_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  channel_id text COLLATE "C" NOT NULL,
  -- Null: a test.
  incident_id uuid REFERENCES alert_incidents ON DELETE CASCADE,
  phase text,
  at timestamptz NOT NULL DEFAULT now(),
  is_ok boolean NOT NULL,
  status integer,
  ms integer NOT NULL,
  attempt integer NOT NULL,
  problem text
);
CREATE INDEX alert_deliveries_channel ON alert_deliveries (channel_id, at DESC);
CREATE INDEX alert_deliveries_incident ON alert_deliveries (incident_id) WHERE incident_id IS NOT NULL;
CREATE INDEX alert_deliveries_at ON alert_deliveries (at);
