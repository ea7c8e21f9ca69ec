-- The traffic of nodes and deployments: news that nodes exchange, the history of it, and deployments that get no calls.

-- The last news of each node. It is worth a few seconds, so a crash may lose it, and nothing of it is written ahead.
CREATE UNLOGGED TABLE node_news (
  node_id uuid PRIMARY KEY,
  at timestamptz NOT NULL,
  summary text NOT NULL
) WITH (fillfactor = 50);

-- When the news was last wanted. Nodes write none while no console reads it.
CREATE UNLOGGED TABLE node_news_wanted (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  at timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE deployment_slots (
  deployment text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  node_id uuid NOT NULL,
  -- From the least to the worst: drained, held-back, healthy, limited, probing, ejected, quarantined.
  worst smallint NOT NULL CHECK (worst BETWEEN 0 AND 6),
  calls integer NOT NULL,
  failed integer NOT NULL,
  -- Durations of calls, as counts in classes of growing width. Classes without a call are left out.
  latency_classes smallint[] NOT NULL,
  latency_counts integer[] NOT NULL,
  in_flight integer NOT NULL,
  -- Null: there was none.
  call_limit real,
  PRIMARY KEY (deployment, at, node_id)
);
CREATE INDEX deployment_slots_by_age ON deployment_slots (at);

CREATE TABLE deployment_events (
  deployment text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  node_id uuid NOT NULL,
  state smallint NOT NULL CHECK (state BETWEEN 0 AND 6),
  reason text NOT NULL,
  PRIMARY KEY (deployment, at, node_id)
);
CREATE INDEX deployment_events_by_age ON deployment_events (at);

-- Traffic by project: a row a minute for a day, and a row each half hour for a month.
CREATE TABLE traffic_slots (
  slot_seconds integer NOT NULL,
  at timestamptz NOT NULL,
  -- Empty: callers without a valid key.
  project text COLLATE "C" NOT NULL,
  node_id uuid NOT NULL,
  answered integer NOT NULL,
  refused integer NOT NULL,
  limited integer NOT NULL,
  failed integer NOT NULL,
  unknown integer NOT NULL,
  inputs bigint NOT NULL,
  hits bigint NOT NULL,
  amount_nano bigint NOT NULL,
  latency_classes smallint[] NOT NULL,
  latency_counts integer[] NOT NULL,
  own_classes smallint[] NOT NULL,
  own_counts integer[] NOT NULL,
  PRIMARY KEY (slot_seconds, at, project, node_id)
);

CREATE TABLE deployment_drains (
  deployment text COLLATE "C" PRIMARY KEY,
  reason text NOT NULL,
  drained_by text NOT NULL,
  drained_at timestamptz NOT NULL DEFAULT now()
);
