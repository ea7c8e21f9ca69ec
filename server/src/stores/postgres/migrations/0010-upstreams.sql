-- Upstreams and models that admins add while nodes run, beside those of torana.yaml. Each change moves directory_version.

CREATE TABLE stored_upstreams (
  name text COLLATE "C" PRIMARY KEY,
  -- What torana.yaml would say of it, without a secret: that is in upstream_credentials.
  entry jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE stored_deployments (
  model text COLLATE "C" NOT NULL,
  -- Of the table above, or of torana.yaml.
  upstream text COLLATE "C" NOT NULL,
  -- What torana.yaml would say of the model where the built-in facts do not know it.
  entry jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (model, upstream)
);

-- The last characters of a stored secret, enough for a person to recognise it. Null: it was stored before, or is too short.
ALTER TABLE upstream_credentials ADD COLUMN tail text;
