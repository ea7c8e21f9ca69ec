-- Filters that members of a project share under a name.
CREATE TABLE shared_views (
  view_id uuid PRIMARY KEY,
  project text COLLATE "C" NOT NULL,
  page text NOT NULL,
  name text NOT NULL,
  search text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project, page, name)
);

-- Views frozen in time that a link opens without a session. The link ends with its maker, and with the maker's rights.
CREATE TABLE snapshots (
  snapshot_id uuid PRIMARY KEY,
  -- SHA-256 of the secret in the link.
  digest bytea NOT NULL UNIQUE,
  member_id uuid NOT NULL REFERENCES members (member_id) ON DELETE CASCADE,
  page text NOT NULL,
  title text NOT NULL,
  -- The projects that its figures are of. NULL: all.
  projects text[],
  content jsonb NOT NULL,
  bytes int NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX snapshots_by_member ON snapshots (member_id);
CREATE INDEX snapshots_by_end ON snapshots (expires_at);
