-- Members of the console, their sessions and invitations, sign-on by an identity provider, tokens of programs, and the audit.
-- Nothing here can be turned back into a password, a cookie, a link or a token.

CREATE TABLE members (
  member_id uuid PRIMARY KEY,
  name text NOT NULL,
  -- In lower case: one person, one row.
  email text COLLATE "C" NOT NULL UNIQUE,
  role text NOT NULL,
  -- Of a developer. Null: all.
  projects text[],
  -- Who decides role and projects: admins, or the rules of the sign-on.
  source text NOT NULL CHECK (source IN ('local', 'oidc')),
  -- argon2id with its parameters. Null: this member signs in elsewhere.
  password_hash text,
  -- The member's identity at the identity provider.
  issuer text,
  subject text,
  -- The address of the last sign-in: guesses of a password from elsewhere do not lock the member out.
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
  -- The secret is bound to it.
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

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TABLE audit (
  -- Without gaps: a missing number was taken out.
  sequence bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}',
  -- SHA-256 over the previous row and this one: a row that was changed or taken out shows.
  hash bytea NOT NULL
);
CREATE INDEX audit_by_actor ON audit (actor, sequence);
CREATE INDEX audit_by_action ON audit (action, sequence);
CREATE INDEX audit_by_target ON audit (target, sequence);
CREATE INDEX audit_by_time ON audit (at);
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
