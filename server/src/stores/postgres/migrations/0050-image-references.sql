-- Vectors of the probe images of a model, for each of its spaces: a table of its own, so that nodes of an earlier version, which
-- compare texts alone, read and replace references as before.
CREATE TABLE space_image_references (
  model text COLLATE "C" NOT NULL,
  generation int NOT NULL CHECK (generation >= 1),
  -- One after another: float32, little-endian, of the width of the model's reference.
  vectors bytea NOT NULL,
  PRIMARY KEY (model, generation)
);
