-- What a caller says a request is for, below its key: `user`, and tags. Null: nothing, or the row is of a node of the version
-- before. Such a node counts its calls in no table of labels, which reports show as calls without labels.
ALTER TABLE usage_events ADD COLUMN end_user text;
ALTER TABLE usage_events ADD COLUMN tags jsonb;
ALTER TABLE requests ADD COLUMN end_user text;
ALTER TABLE requests ADD COLUMN tags jsonb;
-- Of all lines of a batch.
ALTER TABLE batches ADD COLUMN tags jsonb;

-- The labels that are counted apart, by project and day: `user`, or `tag:<key>`, with their values. What comes after the most that
-- are counted apart is counted together. The row with the empty value stands for the label itself.
CREATE TABLE usage_labels (
  day date NOT NULL,
  project text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (day, project, label, value)
);
CREATE INDEX usage_labels_names ON usage_labels (day, project) WHERE value = '';

-- As `usage_hours`, once for each label of an entry. An empty value is all values that are not counted apart; the label `tag:` is
-- all tags whose key is not.
CREATE TABLE usage_label_hours (
  hour timestamptz NOT NULL,
  project text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  shard smallint NOT NULL,
  posts bigint NOT NULL DEFAULT 0,
  unknowns bigint NOT NULL DEFAULT 0,
  tokens bigint NOT NULL DEFAULT 0,
  images bigint NOT NULL DEFAULT 0,
  amount_nano bigint NOT NULL DEFAULT 0,
  unpriced bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  hits bigint NOT NULL DEFAULT 0,
  saved_nano bigint NOT NULL DEFAULT 0,
  unknown_nano bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, project, label, value, key_id, model, deployment, shard)
) WITH (fillfactor = 50);
-- What was not counted apart, for those who have to be told.
CREATE INDEX usage_label_hours_overflow ON usage_label_hours (hour) WHERE value = '';

-- As `usage_days`.
CREATE TABLE usage_label_days (
  day date NOT NULL,
  project text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  posts bigint NOT NULL,
  unknowns bigint NOT NULL,
  tokens bigint NOT NULL,
  images bigint NOT NULL,
  amount_nano bigint NOT NULL,
  unpriced bigint NOT NULL,
  requests bigint NOT NULL,
  hits bigint NOT NULL,
  saved_nano bigint NOT NULL,
  unknown_nano bigint NOT NULL,
  PRIMARY KEY (day, project, label, value, key_id, model, deployment)
);
