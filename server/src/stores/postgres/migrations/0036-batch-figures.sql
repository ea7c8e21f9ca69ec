-- What people are shown of a batch: how fast its chunks end, and how lines of them failed.

ALTER TABLE batch_chunks
  ADD COLUMN done_at timestamptz,
  -- Lines that failed, by the code of the fault; null: none.
  ADD COLUMN faults jsonb;
