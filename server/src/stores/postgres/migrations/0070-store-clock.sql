-- What nodes share goes by the clock of the database.

-- Lead of the clock of the node's machine over the database's, as of its last heartbeat. Null: it has not said yet. A node whose
-- clock is wrong does no chores.
ALTER TABLE nodes ADD COLUMN clock_skew_ms double precision;

-- None of these moments goes back, so none may be ahead: what came in until then would be late, not compared, or refused.
CREATE FUNCTION refuse_future_seal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ahead text;
BEGIN
  SELECT name INTO ahead FROM (VALUES
    ('through', OLD.through, NEW.through),
    ('compared_through', OLD.compared_through, NEW.compared_through),
    ('days_through', OLD.days_through::timestamp AT TIME ZONE 'UTC', NEW.days_through::timestamp AT TIME ZONE 'UTC'),
    ('hours_kept_from', OLD.hours_kept_from, NEW.hours_kept_from),
    ('entries_kept_from', OLD.entries_kept_from, NEW.entries_kept_from)
  ) AS moments (name, before, after) WHERE after > before AND after > now();
  IF ahead IS NOT NULL THEN
    RAISE EXCEPTION 'ledger_seal.% would be in the future: the clock of a node is wrong', ahead USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_seal_in_the_past BEFORE UPDATE ON ledger_seal FOR EACH ROW EXECUTE FUNCTION refuse_future_seal();
