-- Hours that are added up once and then sealed; late entries become corrections; hourly sums get partitions.

-- Whether the node writes late entries as corrections. A node of an earlier version does not, and no hour is sealed while it lives.
ALTER TABLE nodes ADD COLUMN seals boolean NOT NULL DEFAULT false;

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
  PRIMARY KEY (request_id, attempt, kind)
);
CREATE INDEX ledger_corrections_open ON ledger_corrections (hour) WHERE NOT in_day;

-- One project's days, without its keys: what its budget has spent for good.
CREATE INDEX usage_group_days_by_project ON usage_group_days (project, day);

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

-- Sums by hour get a partition per month. What there is becomes the first one, which ends with this month.
DO $$
DECLARE
  hours text;
  names text;
  upper timestamptz := (date_trunc('month', (now() + interval '1 day') AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';
BEGIN
  FOREACH hours IN ARRAY ARRAY['usage_hours', 'usage_label_hours'] LOOP
    names := CASE hours WHEN 'usage_hours' THEN 'project' ELSE 'project, label, value' END;
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', hours);
    -- Of a clock that is ahead.
    EXECUTE format('CREATE TEMPORARY TABLE far_hours ON COMMIT DROP AS SELECT * FROM %I WHERE hour >= %L', hours, upper);
    EXECUTE format('DELETE FROM %I WHERE hour >= %L', hours, upper);
    EXECUTE format('ALTER TABLE %I RENAME TO %I', hours, hours || '_before');
    EXECUTE format('ALTER TABLE %I RENAME CONSTRAINT %I TO %I', hours || '_before', hours || '_pkey', hours || '_before_pkey');
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS) PARTITION BY RANGE (hour)', hours, hours || '_before');
    EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (hour, %s, key_id, model, deployment, shard)', hours, names);
    IF hours = 'usage_hours' THEN
      ALTER INDEX usage_hours_by_project RENAME TO usage_hours_before_by_project;
      CREATE INDEX usage_hours_by_project ON usage_hours (project, hour);
    ELSE
      ALTER INDEX usage_label_hours_overflow RENAME TO usage_label_hours_before_overflow;
      CREATE INDEX usage_label_hours_overflow ON usage_label_hours (hour) WHERE value = '';
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', hours, hours || '_before', upper);
    -- Takes hours for which a node of an earlier version created no partition.
    EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT WITH (fillfactor = 50)', hours || '_rest', hours);
    EXECUTE format('INSERT INTO %I SELECT * FROM far_hours', hours);
    DROP TABLE far_hours;
  END LOOP;
END $$;

-- Dropped hours are in the sums of their days. What is added to them later must be a correction, or the day would lose the rest.
CREATE FUNCTION refuse_dropped_hour() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.hour < (SELECT hours_kept_from FROM ledger_seal) THEN
    RAISE EXCEPTION 'the hourly sums of % were dropped: a node of this version must write the entry',
      (NEW.hour AT TIME ZONE 'UTC')::date USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER usage_hours_rest_dropped BEFORE INSERT ON usage_hours_rest
  FOR EACH ROW WHEN (NEW.shard < 100) EXECUTE FUNCTION refuse_dropped_hour();
