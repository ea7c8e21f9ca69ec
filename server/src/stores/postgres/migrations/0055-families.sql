-- Models that were compared with their family, for the latest generation of the family's space.
CREATE TABLE space_family_members (
  family text COLLATE "C" NOT NULL,
  generation int NOT NULL CHECK (generation >= 1),
  model text COLLATE "C" NOT NULL,
  -- The generation of the model's own space when it was compared.
  model_generation int NOT NULL CHECK (model_generation >= 1),
  is_reference boolean NOT NULL,
  is_joined boolean NOT NULL,
  agreement double precision,
  found double precision,
  reason text,
  deployment text NOT NULL,
  compared_at timestamptz NOT NULL,
  width int NOT NULL CHECK (width >= 1),
  -- Of the family texts when the model joined: float32, little-endian, one after another. NULL: it never has.
  vectors bytea,
  PRIMARY KEY (family, generation, model, model_generation)
);
