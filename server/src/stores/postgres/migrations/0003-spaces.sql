-- What is known of the vector space of each embedding model.

CREATE TABLE space_references (
  model text COLLATE "C" PRIMARY KEY,
  -- How often another space has been accepted, from 1.
  generation int NOT NULL CHECK (generation >= 1),
  width int NOT NULL CHECK (width >= 1),
  -- The id that follows from the three above.
  space text COLLATE "C" NOT NULL,
  -- Those of the probe texts, one after another: float32, little-endian.
  vectors bytea NOT NULL,
  deployment text NOT NULL,
  accepted_at timestamptz NOT NULL
);

CREATE TABLE space_standings (
  model text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  -- Where the deployment led: elsewhere it has another standing.
  target text COLLATE "C" NOT NULL,
  -- The space that it was last compared with.
  space text COLLATE "C",
  is_quarantined boolean NOT NULL,
  last_good_at timestamptz,
  reason text,
  -- The last probe, also if it failed, with moments in Unix milliseconds.
  last jsonb NOT NULL,
  -- [{"fromMs", "untilMs"}]: what it made in between is never to be used.
  bad_windows jsonb NOT NULL,
  PRIMARY KEY (model, deployment, target)
-- Changed in place every quarter of an hour, read by every node every few seconds.
) WITH (fillfactor = 70);

CREATE TABLE space_probes (
  model text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  space text COLLATE "C" NOT NULL,
  verdict text NOT NULL CHECK (verdict IN ('good', 'warned', 'quarantined', 'failed')),
  least_cosine double precision,
  norm_drift double precision,
  reason text,
  PRIMARY KEY (model, at, deployment, target)
);
CREATE INDEX space_probes_by_age ON space_probes (at);
