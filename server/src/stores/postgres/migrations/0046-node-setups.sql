-- What each node says of its setup with its heartbeats, for torana doctor to compare. NULL: a node of an earlier version.
ALTER TABLE nodes ADD COLUMN setup jsonb;
