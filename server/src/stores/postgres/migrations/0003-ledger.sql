-- Money. All amounts are nano-dollars.

CREATE TABLE budgets (
  -- `project:<name>` or `key:<id>`.
  budget_id text NOT NULL,
  window_start timestamptz NOT NULL,
  window_end timestamptz NOT NULL,
  limit_nano bigint NOT NULL,
  spent_nano bigint NOT NULL DEFAULT 0,
  -- Sum of `leases.amount_nano` of this window.
  leased_nano bigint NOT NULL DEFAULT 0,
  -- Once `spent_nano` holds the spending of the window before the row was there; nothing is leased before.
  seeded boolean NOT NULL DEFAULT false,
  PRIMARY KEY (budget_id, window_start)
) WITH (fillfactor = 50);

-- What a node may still spend without asking: it admits requests against it in memory.
CREATE TABLE leases (
  budget_id text NOT NULL,
  window_start timestamptz NOT NULL,
  node_id uuid NOT NULL,
  amount_nano bigint NOT NULL,
  -- The last change and the amount that it moved: repeated after a lost answer, it is not done again.
  operation uuid NOT NULL,
  operation_nano bigint NOT NULL,
  PRIMARY KEY (budget_id, window_start, node_id),
  FOREIGN KEY (budget_id, window_start) REFERENCES budgets (budget_id, window_start)
) WITH (fillfactor = 50);

-- The ledger. Rows are added, never changed. The request id is a UUIDv7, so a range of ids is a range of time, and the
-- partition key is the key that makes a record count once.
CREATE TABLE usage_events (
  request_id uuid NOT NULL,
  attempt smallint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('intent', 'post', 'void', 'unknown', 'adjust')),
  -- The exchange with the upstream. Several requests may share one; a request may have several. It has no index of its own:
  -- it is a UUIDv7 too, so the requests around its moment are the ones to look at.
  call_id uuid NOT NULL,
  node_id uuid NOT NULL,
  project text NOT NULL,
  key_id text NOT NULL,
  model text NOT NULL,
  deployment text NOT NULL,
  -- The source of the token figure. Null tokens are unknown, which is not zero.
  usage text NOT NULL CHECK (usage IN ('upstream', 'estimated', 'unknown')),
  tokens bigint,
  images integer NOT NULL DEFAULT 0,
  -- What the row adds to the spending; null when the model has no price. An `unknown` adds its reservation; the `post` or `void`
  -- that resolves it adds the difference. So the sum over all rows is always the spending.
  amount_nano bigint,
  written_at timestamptz NOT NULL DEFAULT now(),
  -- Null stands for 0 in these four, so that most rows stay short.
  requests smallint,
  hits integer,
  saved_nano bigint,
  unknown_nano bigint,
  -- Of an unknown: the request, and why its outcome is unknown. Of its resolution: who, and why.
  remarks jsonb,
  -- The batch of the call. Null: none.
  batch_id text COLLATE "C",
  -- `user` and tags of the request, by its caller.
  end_user text,
  tags jsonb,
  -- Inputs of the call. Null: one.
  inputs integer,
  PRIMARY KEY (request_id, attempt, kind)
) PARTITION BY RANGE (request_id);
-- Takes rows without a partition, so that a wrong clock loses nothing. A worker reports when it holds rows.
CREATE TABLE usage_events_rest PARTITION OF usage_events DEFAULT;
CREATE INDEX usage_events_unknown ON usage_events (request_id) WHERE kind = 'unknown';
CREATE TRIGGER usage_events_append_only BEFORE UPDATE OR DELETE ON usage_events
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Entries that PostgreSQL refuses for their content. Each counts against budgets until it is written into the ledger.
CREATE TABLE ledger_refused (
  request_id uuid,
  attempt integer,
  kind text,
  -- The node that made the call.
  node_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  project text NOT NULL,
  key_id text NOT NULL,
  -- What it adds to the spending. Null: the model has no price, or the column can not hold it.
  amount_nano bigint,
  -- The entry as in the spool. A text: jsonb can not hold every character.
  entry text NOT NULL,
  reason text NOT NULL,
  refused_at timestamptz NOT NULL DEFAULT now(),
  tried_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (request_id, attempt, kind)
);
CREATE INDEX ledger_refused_project ON ledger_refused (project);
CREATE INDEX ledger_refused_key ON ledger_refused (key_id);

-- Sums. They move in the statement that adds the entry, only for rows really inserted, so they are exact whatever dies. Nodes that
-- write at the same time count in shards of their own; readers add the shards up. Hourly sums have a partition per month.

CREATE TABLE usage_hours (
  hour timestamptz NOT NULL,
  project text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  shard smallint NOT NULL,
  posts bigint NOT NULL DEFAULT 0,
  unknowns bigint NOT NULL DEFAULT 0,
  tokens bigint NOT NULL DEFAULT 0,
  images bigint NOT NULL DEFAULT 0,
  amount_nano bigint NOT NULL DEFAULT 0,
  -- Rows without a price: their cost is not in `amount_nano`.
  unpriced bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  hits bigint NOT NULL DEFAULT 0,
  saved_nano bigint NOT NULL DEFAULT 0,
  unknown_nano bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, project, key_id, model, deployment, shard)
) PARTITION BY RANGE (hour);
CREATE TABLE usage_hours_rest PARTITION OF usage_hours DEFAULT WITH (fillfactor = 50);
-- One project's hours: the spending of a budget. Rows change in place, since no index knows their sums.
CREATE INDEX usage_hours_by_project ON usage_hours (project, hour);

-- Made from the hours by a worker, for questions about months.
CREATE TABLE usage_days (
  day date NOT NULL,
  project text NOT NULL,
  key_id text NOT NULL,
  model text NOT NULL,
  deployment text NOT NULL,
  posts bigint NOT NULL,
  unknowns bigint NOT NULL,
  tokens bigint NOT NULL,
  images bigint NOT NULL,
  amount_nano bigint NOT NULL,
  unpriced bigint NOT NULL,
  requests bigint NOT NULL DEFAULT 0,
  hits bigint NOT NULL DEFAULT 0,
  saved_nano bigint NOT NULL DEFAULT 0,
  unknown_nano bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (day, project, key_id, model, deployment)
);
CREATE INDEX usage_days_by_project ON usage_days (project, day);
-- A key's spending is added up from the index alone: with ten thousand keys a month has hundreds of thousands of rows.
CREATE INDEX usage_days_of_key ON usage_days (key_id COLLATE "C", day) INCLUDE (amount_nano, unknown_nano, requests, tokens, posts);

-- Days without their keys, made from the days: a question that names no key does not add up ten thousand of them.
CREATE TABLE usage_group_days (
  day date NOT NULL,
  project text COLLATE "C" NOT NULL,
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
  PRIMARY KEY (day, project, model, deployment)
);
CREATE INDEX usage_group_days_by_project ON usage_group_days (project, day);

-- The sums of `usage_events` by batch.
CREATE TABLE batch_usage (
  batch_id text COLLATE "C" NOT NULL,
  shard smallint NOT NULL,
  tokens bigint NOT NULL DEFAULT 0,
  amount_nano bigint NOT NULL DEFAULT 0,
  -- Of the amount: calls whose outcome is unknown, as reserved.
  unknown_nano bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (batch_id, shard)
) WITH (fillfactor = 50);

-- The labels that are counted apart, by project and day: `user`, or `tag:<key>`, with their values. Values beyond the most that
-- are counted apart are counted together. The row with the empty value stands for the label itself.
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
) PARTITION BY RANGE (hour);
CREATE TABLE usage_label_hours_rest PARTITION OF usage_label_hours DEFAULT WITH (fillfactor = 50);
-- Values that are not counted apart, to be reported.
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
