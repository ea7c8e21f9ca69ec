-- What a key is good for beside its models; null: no such bound. Nodes of the version before pass them by.
ALTER TABLE keys ADD COLUMN scopes text[];
-- Requests under way at once, on all nodes together.
ALTER TABLE keys ADD COLUMN max_calls_at_once integer;
-- Addresses and networks that it may be used from.
ALTER TABLE keys ADD COLUMN addresses text[];
ALTER TABLE keys ADD COLUMN first_used_at timestamptz;

-- Keys of torana.yaml have no row in `keys`; when they were used is noted here, for people to see.
CREATE TABLE declared_key_uses (
  key_id text COLLATE "C" PRIMARY KEY,
  first_used_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL
) WITH (fillfactor = 70);

-- What people filter the audit by.
CREATE INDEX audit_by_actor ON audit (actor, sequence);
CREATE INDEX audit_by_action ON audit (action, sequence);
CREATE INDEX audit_by_target ON audit (target, sequence);
CREATE INDEX audit_by_time ON audit (at);

CREATE INDEX webhook_events_by_project ON webhook_events (project, created_at DESC);

-- The spending of the keys on one page.
CREATE INDEX usage_hours_by_key ON usage_hours (key_id, hour);
