-- Facts and prices of models that are newer than those in the program, and which of them count.

CREATE TABLE catalog_feeds (
  -- Grows with each feed: an older one is never taken again.
  sequence bigint PRIMARY KEY CHECK (sequence > 0),
  made_on text NOT NULL,
  -- SHA-256 of `document`, in hex.
  digest text NOT NULL,
  -- The key whose signature was verified when it was pulled.
  key_id text NOT NULL,
  source text NOT NULL,
  -- Canonical JSON, as it was signed.
  document text NOT NULL,
  pulled_by text NOT NULL,
  pulled_at timestamptz NOT NULL DEFAULT now()
);

-- No row: the newest counts.
CREATE TABLE catalog_pin (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- Null: the catalogue in the program.
  sequence bigint REFERENCES catalog_feeds (sequence)
);
