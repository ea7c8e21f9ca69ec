-- What reports about money need: who asked how often, what the cache saved, what is still unknown, and prices set by people.

-- Null is nothing, so that most rows stay as short as they were. A node of the version before writes none of them.
ALTER TABLE usage_events ADD COLUMN requests smallint;
ALTER TABLE usage_events ADD COLUMN hits integer;
ALTER TABLE usage_events ADD COLUMN saved_nano bigint;
ALTER TABLE usage_events ADD COLUMN unknown_nano bigint;
-- Of an unknown: what was asked for, and why nobody knows how it ended. Of what resolved it: who, and why.
ALTER TABLE usage_events ADD COLUMN remarks jsonb;

-- Sums of the columns above, moved in the same statement as the others.
ALTER TABLE usage_hours ADD COLUMN requests bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN hits bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN saved_nano bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN unknown_nano bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN requests bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN hits bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN saved_nano bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN unknown_nano bigint NOT NULL DEFAULT 0;

-- One project's days, and one key's: what a budget has spent.
CREATE INDEX usage_days_by_project ON usage_days (project, day);
CREATE INDEX usage_days_by_key ON usage_days (key_id, day);

-- Prices set in the console, for deployments whose price torana.yaml leaves open.
CREATE TABLE prices (
  deployment text COLLATE "C" PRIMARY KEY,
  -- As in torana.yaml.
  price jsonb NOT NULL,
  set_by text NOT NULL,
  set_at timestamptz NOT NULL DEFAULT now()
);

-- What each deployment cost from when on, whoever changed it: people, torana.yaml or a new version's catalog.
CREATE TABLE price_changes (
  deployment text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Null: the first that was ever noted, which is no change.
  before jsonb,
  after jsonb NOT NULL,
  changed_by text NOT NULL,
  PRIMARY KEY (deployment, at)
);
CREATE INDEX price_changes_by_time ON price_changes (at);
