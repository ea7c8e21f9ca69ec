-- In which vector spaces the results of a batch are, and who made those of each chunk: what has left its space is made again.

ALTER TABLE batches
  ADD COLUMN spaces text[] NOT NULL DEFAULT '{}',
  -- Lines whose results were dropped, since they had left their space.
  ADD COLUMN dropped_lines integer NOT NULL DEFAULT 0;

-- Null: there is no vector in its results, or an earlier version made them.
ALTER TABLE batch_chunks ADD COLUMN made jsonb;
