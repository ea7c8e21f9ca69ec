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
