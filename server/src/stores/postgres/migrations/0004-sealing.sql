-- Hours of the ledger are added up once and then sealed; late entries become corrections; sealed days become files.

-- How far the ledger has been compared, sealed and dropped.
CREATE TABLE ledger_seal (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- Entries of earlier hours are late. Commits before the hours are added up.
  through timestamptz NOT NULL DEFAULT '-infinity',
  -- Hours from here to `through` are being sealed. Null: none is.
  sealing timestamptz,
  sealed_at timestamptz NOT NULL DEFAULT now(),
  -- Hours before it were compared with their sums once, soon after their end.
  compared_through timestamptz NOT NULL DEFAULT date_trunc('hour', now(), 'UTC'),
  compared_at timestamptz NOT NULL DEFAULT now(),
  -- The sums of earlier days are final, but for corrections that are not `in_day`.
  days_through date NOT NULL DEFAULT '-infinity',
  -- Sums of earlier hours were dropped: their days keep them.
  hours_kept_from timestamptz NOT NULL DEFAULT '-infinity',
  -- Entries of earlier days were dropped after their export. No more are accepted.
  entries_kept_from timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO ledger_seal DEFAULT VALUES;

-- None of these moments goes back, so none may be ahead: entries until then would be late, not compared, or refused.
CREATE FUNCTION refuse_future_seal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ahead text;
BEGIN
  SELECT name INTO ahead FROM (VALUES
    ('through', OLD.through, NEW.through),
    ('compared_through', OLD.compared_through, NEW.compared_through),
    ('days_through', OLD.days_through::timestamp AT TIME ZONE 'UTC', NEW.days_through::timestamp AT TIME ZONE 'UTC'),
    ('hours_kept_from', OLD.hours_kept_from, NEW.hours_kept_from),
    ('entries_kept_from', OLD.entries_kept_from, NEW.entries_kept_from)
  ) AS moments (name, before, after) WHERE after > before AND after > now();
  IF ahead IS NOT NULL THEN
    RAISE EXCEPTION 'ledger_seal.% would be in the future: the clock of a node is wrong', ahead USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_seal_in_the_past BEFORE UPDATE ON ledger_seal FOR EACH ROW EXECUTE FUNCTION refuse_future_seal();

-- An hour without a row had no entries when it was sealed.
CREATE TABLE sealed_hours (
  hour timestamptz PRIMARY KEY,
  -- The sums of its entries that are not corrections.
  entries bigint NOT NULL,
  posts bigint NOT NULL,
  tokens bigint NOT NULL,
  images bigint NOT NULL,
  amount_nano bigint NOT NULL,
  requests bigint NOT NULL,
  hits bigint NOT NULL,
  saved_nano bigint NOT NULL,
  unknown_nano bigint NOT NULL,
  -- SHA-256 of the SHA-256 of each ten seconds that have entries.
  hash bytea NOT NULL,
  -- All of its entries that are not corrections were written earlier.
  barrier_at timestamptz NOT NULL,
  sealed_at timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER sealed_hours_append_only BEFORE UPDATE OR DELETE ON sealed_hours
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Hours whose sums differed from their entries when they were last compared.
CREATE TABLE ledger_differences (
  hour timestamptz PRIMARY KEY,
  differences integer NOT NULL,
  found_at timestamptz NOT NULL DEFAULT now()
);

-- Entries that came after their hour was sealed. Each is in `usage_events` as well, where its key makes it count once.
CREATE TABLE ledger_corrections (
  hour timestamptz NOT NULL,
  request_id uuid NOT NULL,
  attempt smallint NOT NULL,
  kind text NOT NULL,
  project text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  tokens bigint,
  images integer NOT NULL,
  amount_nano bigint,
  requests smallint,
  hits integer,
  saved_nano bigint,
  unknown_nano bigint,
  written_at timestamptz NOT NULL DEFAULT now(),
  -- Whether the sums of its day contain it.
  in_day boolean NOT NULL DEFAULT false,
  -- The number of the day's manifest that has, or will have, the correction. Null: no export has taken it yet.
  manifest integer,
  PRIMARY KEY (request_id, attempt, kind)
);
CREATE INDEX ledger_corrections_open ON ledger_corrections (hour) WHERE NOT in_day;
CREATE INDEX ledger_corrections_to_export ON ledger_corrections (hour) WHERE manifest IS NULL;
-- Finds the corrections of a day that an export has taken, without reading those of all days: a killed export may not have recorded
-- its manifest.
CREATE INDEX ledger_corrections_taken ON ledger_corrections (((hour AT TIME ZONE 'UTC')::date), manifest) WHERE manifest IS NOT NULL;

-- Entries without a partition arrive here; those of a dropped day have none.
CREATE FUNCTION refuse_dropped_day() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := to_timestamp(('x0000' || left(replace(NEW.request_id::text, '-', ''), 12))::bit(64)::bigint / 1000.0);
BEGIN
  IF at < (SELECT entries_kept_from FROM ledger_seal) THEN
    RAISE EXCEPTION 'the entries of % were exported and dropped: entry %/%/% comes too late',
      (at AT TIME ZONE 'UTC')::date, NEW.request_id, NEW.attempt, NEW.kind USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER usage_events_rest_dropped BEFORE INSERT ON usage_events_rest
  FOR EACH ROW EXECUTE FUNCTION refuse_dropped_day();

-- Dropped hours are in the sums of their days. What is added to them later must be a correction, or the day would lose the rest.
CREATE FUNCTION refuse_dropped_hour() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.hour < (SELECT hours_kept_from FROM ledger_seal) THEN
    RAISE EXCEPTION 'the hourly sums of % were dropped: the entry must be a correction',
      (NEW.hour AT TIME ZONE 'UTC')::date USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER usage_hours_rest_dropped BEFORE INSERT ON usage_hours_rest
  FOR EACH ROW WHEN (NEW.shard < 100) EXECUTE FUNCTION refuse_dropped_hour();

-- Manifests of the ledger's files in the blob store, in the order of their chain.
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

-- The node that exports, and why the last export failed.
CREATE TABLE ledger_lake (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  holder uuid,
  held_until timestamptz NOT NULL DEFAULT '-infinity',
  problem text,
  problem_at timestamptz
);
INSERT INTO ledger_lake DEFAULT VALUES;
