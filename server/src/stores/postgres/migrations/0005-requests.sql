-- The request log: the course of each request, never its inputs or outputs.

CREATE TABLE requests (
  request_id uuid NOT NULL PRIMARY KEY,
  route text NOT NULL,
  status smallint NOT NULL,
  fault text,
  project text,
  key_id text,
  model text,
  deployments text,
  attempts smallint,
  inputs integer,
  tokens bigint,
  amount_nano bigint,
  client_request_id text,
  duration_ms real NOT NULL,
  -- Text, so that no address can make a row fail.
  client_address text,
  node_id uuid,
  hits integer,
  images integer,
  -- Torana's own work, and waiting for turns. The rest of the duration is the upstreams' time.
  own_ms real,
  waited_ms real,
  -- Steps, calls and counts as JSON. Text, since the database never looks into it, and reading it as JSON for each row would cost
  -- more than all its other columns.
  trace text,
  -- The space that a request named and got; null: it named none.
  pinned_space text COLLATE "C",
  end_user text,
  tags jsonb
) PARTITION BY RANGE (request_id);
CREATE TABLE requests_rest PARTITION OF requests DEFAULT;
-- A request id is a moment, so these find the newest of a project and the newest failures.
CREATE INDEX requests_by_project ON requests (project, request_id DESC);
CREATE INDEX requests_gone_wrong ON requests (request_id DESC) WHERE status >= 400;
-- Only rows that have one pay for these two. An address is in every row, and its rows are found by their time.
CREATE INDEX requests_by_client ON requests (client_request_id, request_id DESC) WHERE client_request_id IS NOT NULL;
CREATE INDEX requests_by_user ON requests (end_user, request_id DESC) WHERE end_user IS NOT NULL;
-- The callers that would get 412 if a space changed, counted from the index alone.
CREATE INDEX requests_pinned ON requests (request_id DESC) INCLUDE (pinned_space, key_id)
  WHERE pinned_space IS NOT NULL;
