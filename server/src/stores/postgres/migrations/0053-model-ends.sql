-- When models end by the lists of their upstreams, the notices that went out about it, and answers by another model than asked for.

CREATE TABLE upstream_listings (
  upstream text COLLATE "C" PRIMARY KEY,
  -- The address that was asked: at another one, the days below do not hold.
  address text NOT NULL,
  -- By the clock of the node that asked.
  read_at timestamptz NOT NULL,
  -- The day of each model that has one, by the upstream's name of the model: {"gpt-image-1.5": "2026-12-01"}.
  ends jsonb NOT NULL
);

-- A row stays: it is the reason why no node sends the notice again.
CREATE TABLE model_end_notices (
  upstream text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  ends_on text COLLATE "C" NOT NULL CHECK (ends_on ~ '^\d{4}-\d\d-\d\d$'),
  -- Days before the end.
  days smallint NOT NULL,
  sent_at timestamptz NOT NULL,
  PRIMARY KEY (upstream, model, ends_on, days)
);

CREATE TABLE substitutions (
  deployment text COLLATE "C" NOT NULL,
  asked text COLLATE "C" NOT NULL,
  answered text COLLATE "C" NOT NULL,
  answers bigint NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (deployment, asked, answered)
);
