-- Rights are asked wherever work goes on.

-- Revoked because a stranger may have the secret: what the key began is cancelled.
ALTER TABLE keys ADD COLUMN leaked boolean NOT NULL DEFAULT false;

-- An operator lets the batch go on without its key: by the terms of its project.
ALTER TABLE batches ADD COLUMN continued boolean NOT NULL DEFAULT false;
-- Why Torana cancelled it: the code of a fault. Null: a person did, or nothing was cancelled.
ALTER TABLE batches ADD COLUMN cancel_code text;
