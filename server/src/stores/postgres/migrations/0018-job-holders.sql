-- Which nodes have held an image job, and from when on: a list of {"node", "from"}. Null in jobs of nodes that did not note it.
ALTER TABLE image_jobs ADD COLUMN holders jsonb;
