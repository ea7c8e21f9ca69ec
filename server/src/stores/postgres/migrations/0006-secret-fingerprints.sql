-- Which TORANA_SECRET the nodes of this database use, by fingerprint. A node with another one would refuse every stored key.

CREATE TABLE secret_fingerprints (
  fingerprint text COLLATE "C" PRIMARY KEY,
  -- While the secret is being changed there are two. The older one goes when a node no longer knows it.
  first_used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
