-- The ranges by which int8 and uint8 are made of a model's vectors. A row never changes: its id is in the names of spaces.

CREATE TABLE space_calibrations (
  -- A checksum of everything below that decides the bytes.
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[0-9a-f]{8}$'),
  model text COLLATE "C" NOT NULL,
  -- The space of the float vectors that it was made from.
  space text COLLATE "C" NOT NULL,
  width int NOT NULL CHECK (width >= 1),
  -- The least and the greatest value of each dimension: float32, little-endian.
  mins bytea NOT NULL CHECK (length(mins) = 4 * width),
  maxs bytea NOT NULL CHECK (length(maxs) = 4 * width),
  -- How many vectors they were taken from.
  vectors int NOT NULL CHECK (vectors >= 1),
  made_at timestamptz NOT NULL,
  made_by text NOT NULL
);
