-- Of the tokens: those of the answers. Pictures have some.
ALTER TABLE batches ADD COLUMN output_tokens bigint NOT NULL DEFAULT 0;
