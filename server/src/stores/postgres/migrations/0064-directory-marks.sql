-- A random mark of each version of the directory, so that a node's own copy of the keys is never continued with the changes of
-- another history: a store that was restored to an earlier state has other marks from there on, and so has another store. By a
-- trigger: nodes of the version before move directory_version too.
CREATE TABLE directory_marks (
  version bigint PRIMARY KEY,
  mark uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO directory_marks (version) SELECT version FROM directory_version;

CREATE FUNCTION mark_directory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO directory_marks (version) VALUES (NEW.version)
  ON CONFLICT (version) DO UPDATE SET mark = gen_random_uuid();
  -- A copy that is more changes behind is read again as a whole.
  DELETE FROM directory_marks WHERE version < NEW.version - 10000 OR version > NEW.version;
  RETURN NULL;
END $$;

-- Not for inserts: a restore brings the marks of its backup.
CREATE TRIGGER directory_marked AFTER UPDATE ON directory_version
  FOR EACH ROW EXECUTE FUNCTION mark_directory();
