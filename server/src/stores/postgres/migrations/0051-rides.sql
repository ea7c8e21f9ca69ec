-- Probe texts that ride along in live calls, in slots of five minutes, and references that are the mean of several samples.

CREATE TABLE space_rides (
  model text COLLATE "C" NOT NULL,
  -- Start of the slot.
  at timestamptz NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  rides int NOT NULL,
  least_cosine double precision NOT NULL,
  PRIMARY KEY (model, at, deployment, target)
);
CREATE INDEX space_rides_by_age ON space_rides (at);

-- Null: the vectors are one sample.
ALTER TABLE space_references ADD COLUMN spread double precision;
ALTER TABLE space_image_references ADD COLUMN spread double precision;

-- Good probes and rides before the last one, in Unix milliseconds, the oldest first.
ALTER TABLE space_standings ADD COLUMN good_at jsonb NOT NULL DEFAULT '[]';

-- One probe text in a live call. It may be sent in the same millisecond as a probe, and must not be taken for it.
ALTER TABLE space_probes ADD COLUMN is_ride boolean NOT NULL DEFAULT false;
ALTER TABLE space_probes DROP CONSTRAINT space_probes_pkey;
ALTER TABLE space_probes ADD PRIMARY KEY (model, at, deployment, target, is_ride);
