-- The vector space of each embedding model, and the standing of its deployments.

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
  accepted_at timestamptz NOT NULL,
  -- Null: no actor did, it is the first deployment's answer.
  accepted_by text,
  -- How far the samples were apart. Null: the vectors are one sample.
  spread double precision
);

-- Vectors of the probe images of a model that takes images, for each of its spaces.
CREATE TABLE space_image_references (
  model text COLLATE "C" NOT NULL,
  generation int NOT NULL CHECK (generation >= 1),
  -- One after another: float32, little-endian, of the width of the model's reference.
  vectors bytea NOT NULL,
  spread double precision,
  PRIMARY KEY (model, generation)
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
  -- [{"fromMs", "untilMs"}]: vectors made in between are never to be used.
  bad_windows jsonb NOT NULL,
  -- Good probes before the last one, in Unix milliseconds, the oldest first.
  good_at jsonb NOT NULL DEFAULT '[]',
  -- The last good probe of all texts, likewise, by the class of size of its calls, such as "64x2048".
  good_sizes jsonb NOT NULL DEFAULT '{}',
  -- When a node last took on a probe of a deployment in use, by the same names, in Unix milliseconds of this database.
  claims jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (model, deployment, target)
-- Changed in place every 20 seconds while the deployment is in use, read by every node every few seconds.
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
  -- The cosine of each probe text with its reference, in the order of the texts.
  cosines double precision[],
  -- A probe of a deployment in use. It may be sent in the same millisecond as another one, and must not be taken for it.
  is_in_use boolean NOT NULL DEFAULT false,
  PRIMARY KEY (model, at, deployment, target, is_in_use)
);
CREATE INDEX space_probes_by_age ON space_probes (at);


-- Times in which a deployment may have answered with vectors of another space: from its last good check until its next good one.
CREATE TABLE suspect_windows (
  window_id text COLLATE "C" PRIMARY KEY,
  model text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  space text COLLATE "C" NOT NULL,
  from_at timestamptz NOT NULL,
  -- Null while the deployment is outside its space.
  until_at timestamptz,
  found_at timestamptz NOT NULL DEFAULT now(),
  -- When the ledger is read next for vectors of the window. Null: never again.
  next_listing_at timestamptz DEFAULT now() + interval '5 seconds',
  -- How often it was read since the window was found, or ended.
  listings smallint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX suspect_windows_open ON suspect_windows (model, deployment, target) WHERE until_at IS NULL;
CREATE INDEX suspect_windows_due ON suspect_windows (next_listing_at) WHERE next_listing_at IS NOT NULL;

-- Each request whose answer holds vectors of the window.
CREATE TABLE suspect_vectors (
  window_id text COLLATE "C" NOT NULL REFERENCES suspect_windows (window_id) ON DELETE CASCADE,
  request_id uuid NOT NULL,
  project text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  inputs integer NOT NULL,
  batch_id text COLLATE "C",
  -- [[first, last], …] of the batch's file, from 1. Null: it is no request of a batch, or the results of the batch are gone.
  lines jsonb,
  PRIMARY KEY (window_id, request_id)
);
