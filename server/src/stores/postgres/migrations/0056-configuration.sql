-- Upstreams and models that admins keep in the store, in the form of torana.yaml, and the history of their changes.

CREATE TABLE configuration_objects (
  object text COLLATE "C" NOT NULL CHECK (object IN ('upstream', 'model')),
  name text COLLATE "C" NOT NULL,
  -- As below `upstreams` or `models` of torana.yaml, without a secret: that is in upstream_credentials.
  entry jsonb NOT NULL,
  -- The version of the directory in which it last changed.
  revision bigint NOT NULL,
  changed_by text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (object, name)
);

CREATE TABLE configuration_changes (
  -- The version of the directory that the change made.
  change_id bigint PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  changed_by text NOT NULL,
  summary text NOT NULL,
  -- [{"object", "name", "renamedFrom", "before", "after"}]: entries, null where there was or is none.
  objects jsonb NOT NULL,
  -- The change that it takes back.
  reverts bigint
);

-- Prices of such deployments belong to their entries. Nodes of the version before go on with what the old tables hold now.
INSERT INTO configuration_objects (object, name, entry, revision, changed_by, changed_at)
SELECT 'upstream', name, entry, 1, 'system', updated_at FROM stored_upstreams;

INSERT INTO configuration_objects (object, name, entry, revision, changed_by, changed_at)
SELECT 'model', model,
  coalesce((
    SELECT jsonb_object_agg(field.key, field.value ORDER BY own.created_at, own.upstream)
    FROM stored_deployments AS own, jsonb_each(own.entry) AS field WHERE own.model = stored_deployments.model
  ), '{}') || jsonb_build_object('deployments', jsonb_agg(
    jsonb_build_object('upstream', upstream) || coalesce((
      SELECT jsonb_build_object('price', price) FROM prices WHERE deployment = model || '/' || upstream
    ), '{}') ORDER BY created_at, upstream
  )),
  1, 'system', max(created_at)
FROM stored_deployments GROUP BY model;

-- A node of the version before could still write to them, and no node of this version would see it. A restore fills them as they were.
CREATE FUNCTION refuse_old_configuration() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('torana.is_restoring', true) = 'on' THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'nodes of a newer version keep upstreams and models in another table: make this change at one of them';
END $$;
CREATE TRIGGER stored_upstreams_frozen BEFORE INSERT OR UPDATE OR DELETE ON stored_upstreams
  FOR EACH ROW EXECUTE FUNCTION refuse_old_configuration();
CREATE TRIGGER stored_deployments_frozen BEFORE INSERT OR UPDATE OR DELETE ON stored_deployments
  FOR EACH ROW EXECUTE FUNCTION refuse_old_configuration();
