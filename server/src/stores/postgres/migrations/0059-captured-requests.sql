-- A request explains itself: it is found by what its caller knows of it, and can be sent again where its project captures inputs.

-- Only rows that have one pay for the index. An address is in every row, and the rows of one are found by their time.
CREATE INDEX requests_by_client ON requests (client_request_id, request_id DESC) WHERE client_request_id IS NOT NULL;
CREATE INDEX requests_by_user ON requests (end_user, request_id DESC) WHERE end_user IS NOT NULL;

-- Whether Torana keeps the inputs of its requests for a day.
ALTER TABLE projects ADD COLUMN captures_inputs boolean NOT NULL DEFAULT false;

-- Unlogged, so that no archive of the database and no backup has them. A crash of the database empties the table.
CREATE UNLOGGED TABLE captured_requests (
  request_id uuid PRIMARY KEY,
  project text COLLATE "C" NOT NULL,
  -- The last to be deleted when a project has no room left: people look for failures.
  has_failed boolean NOT NULL,
  bytes integer NOT NULL,
  captured_at timestamptz NOT NULL,
  -- Route, headers and body, sealed by the node's secret and bound to the request.
  sealed bytea NOT NULL
);
CREATE INDEX captured_requests_by_project ON captured_requests (project, has_failed, request_id) INCLUDE (bytes);
CREATE INDEX captured_requests_by_time ON captured_requests (captured_at);

-- How much of the room a project has taken. In the same transaction as the rows.
CREATE UNLOGGED TABLE captured_bytes (
  project text COLLATE "C" PRIMARY KEY,
  bytes bigint NOT NULL
);
