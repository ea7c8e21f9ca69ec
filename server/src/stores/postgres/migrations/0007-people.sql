-- People at the console: members, their sessions and invitations, sign-on by an identity provider, tokens of programs.
-- Nothing here can be turned back into a password, a cookie, a link or a token.

CREATE TABLE members (
  member_id uuid PRIMARY KEY,
  name text NOT NULL,
  -- In lower case: one person, one row.
  email text COLLATE "C" NOT NULL UNIQUE,
  role text NOT NULL,
  -- Of a developer. NULL: all.
  projects text[],
  -- Who decides role and projects: admins, or the rules of the sign-on.
  source text NOT NULL CHECK (source IN ('local', 'oidc')),
  -- argon2id with its parameters. NULL: this member signs in elsewhere.
  password_hash text,
  -- How the identity provider knows this member.
  issuer text,
  subject text,
  -- Where the last sign-in came from: strangers elsewhere who guess a password do not keep the member out.
  last_address text,
  last_seen_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  disabled_at timestamptz,
  UNIQUE (issuer, subject)
);

CREATE TABLE sessions (
  -- SHA-256 of the cookie.
  digest bytea PRIMARY KEY,
  session_id uuid NOT NULL UNIQUE,
  member_id uuid NOT NULL REFERENCES members (member_id) ON DELETE CASCADE,
  address text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  -- Its end, however busy it is.
  expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_by_member ON sessions (member_id);
CREATE INDEX sessions_by_end ON sessions (expires_at);

CREATE TABLE invitations (
  email text COLLATE "C" PRIMARY KEY,
  digest bytea NOT NULL UNIQUE,
  role text NOT NULL,
  projects text[],
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);

-- Links that make the first admin, one for each start of a node. There are none once there is a member.
CREATE TABLE first_run_links (
  digest bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);

CREATE TABLE sign_on (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- What the secret is bound to.
  sign_on_id uuid NOT NULL,
  name text,
  issuer text NOT NULL,
  client_id text NOT NULL,
  sealed_key bytea,
  sealed_secret bytea,
  rules jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE admin_tokens (
  name text COLLATE "C" PRIMARY KEY,
  digest bytea NOT NULL UNIQUE,
  tail text NOT NULL,
  role text NOT NULL,
  projects text[],
  read_only boolean NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  last_used_at timestamptz
);

CREATE TABLE saved_views (
  member_id uuid NOT NULL REFERENCES members (member_id) ON DELETE CASCADE,
  position int NOT NULL,
  page text NOT NULL,
  name text NOT NULL,
  search text NOT NULL,
  PRIMARY KEY (member_id, position)
);
