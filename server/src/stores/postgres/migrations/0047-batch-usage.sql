-- What batches cost, by the ledger; and chunks that end while lines in the middle of them have not run.

-- The batch that the call was made for. Null: it was made for none, or by a node of an earlier version.
ALTER TABLE usage_events ADD COLUMN batch_id text COLLATE "C";

-- The sums of `usage_events` by batch. They move in the statement that adds the entry, so they are exact whatever dies. A batch
-- with parts of an earlier version has their tokens and cost in its own row, and both are added up.
CREATE TABLE batch_usage (
  batch_id text COLLATE "C" NOT NULL,
  -- Nodes that write at the same time count in rows of their own.
  shard smallint NOT NULL,
  tokens bigint NOT NULL DEFAULT 0,
  amount_nano bigint NOT NULL DEFAULT 0,
  -- Of the amount: calls whose outcome is unknown, as reserved.
  unknown_nano bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (batch_id, shard)
) WITH (fillfactor = 50);

ALTER TABLE batch_chunks
  -- Lines between its first and its last byte that are not part of it, as a bitmap in base64. Null: all of them are part of it.
  ADD COLUMN without text,
  -- The token of the last holder that reads `without`.
  ADD COLUMN reader integer;

-- A node of an earlier version would run the other lines too, and they would be in the output twice. So it gets no such chunk:
-- the chunk counts as given back, and the next node of this version takes it.
CREATE FUNCTION keep_chunk_from_earlier_versions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE batch_chunks SET state = 'held', node_id = NULL, lease_until = now()
  WHERE batch_id = OLD.batch_id AND chunk = OLD.chunk AND state = 'waiting';
  RETURN NULL;
END $$;
CREATE TRIGGER batch_chunks_reader BEFORE UPDATE ON batch_chunks FOR EACH ROW
  WHEN (OLD.without IS NOT NULL AND NEW.token <> OLD.token AND NEW.reader IS DISTINCT FROM NEW.token)
  EXECUTE FUNCTION keep_chunk_from_earlier_versions();
