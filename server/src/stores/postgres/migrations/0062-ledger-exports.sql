-- Days of the ledger as files in the blob store.

-- Each manifest that was written, in the order of their chain.
CREATE TABLE ledger_exports (
  sequence bigint PRIMARY KEY,
  day date NOT NULL,
  -- 1 for the sealed day; one more for each export of corrections.
  number integer NOT NULL,
  -- The signed file, byte by byte, and its SHA-256 in hex.
  manifest text NOT NULL,
  sha256 text NOT NULL,
  -- Of the day up to this manifest, corrections included.
  entries bigint NOT NULL,
  bytes bigint NOT NULL,
  exported_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (day, number)
);
CREATE TRIGGER ledger_exports_append_only BEFORE UPDATE OR DELETE ON ledger_exports
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- The number of the day's manifest that has, or will have, the correction. Null: no export has taken it yet.
ALTER TABLE ledger_corrections ADD COLUMN manifest integer;
CREATE INDEX ledger_corrections_to_export ON ledger_corrections (hour) WHERE manifest IS NULL;

-- The node that exports, and why the last export failed.
CREATE TABLE ledger_lake (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  holder uuid,
  held_until timestamptz NOT NULL DEFAULT '-infinity',
  problem text,
  problem_at timestamptz
);
INSERT INTO ledger_lake DEFAULT VALUES;
