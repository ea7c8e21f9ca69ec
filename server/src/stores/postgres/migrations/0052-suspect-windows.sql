-- Vectors that may be of another space than their name says: when they were made, where they went, and what embeds them again.

-- Inputs of the call. Null: one, or a node of an earlier version wrote the entry.
ALTER TABLE usage_events ADD COLUMN inputs integer;

-- From the last good check of a deployment until its next good one.
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
  listings smallint NOT NULL DEFAULT 0,
  -- When a person first asked for the repair.
  repair_asked_at timestamptz
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

-- The batch that embeds the lines of another batch again. The row is there before the batch is, so that a node that dies in
-- between leaves the id under which the next one makes it.
CREATE TABLE suspect_repairs (
  window_id text COLLATE "C" NOT NULL REFERENCES suspect_windows (window_id) ON DELETE CASCADE,
  batch_id text COLLATE "C" NOT NULL,
  repair_batch_id text COLLATE "C" NOT NULL,
  made_at timestamptz,
  PRIMARY KEY (window_id, batch_id)
);
