-- What the request log tells of a request beyond its end: where its time went, and its calls. Null in rows of nodes that did
-- not write it.
ALTER TABLE requests ADD COLUMN node_id uuid;
ALTER TABLE requests ADD COLUMN hits integer;
ALTER TABLE requests ADD COLUMN images integer;
-- Torana's own work, and waiting for turns. The rest of the duration is the upstreams' time.
ALTER TABLE requests ADD COLUMN own_ms real;
ALTER TABLE requests ADD COLUMN waited_ms real;
-- Steps, calls and counts as JSON, in place of `steps`. Text, since the database never looks into it, and reading it as JSON
-- for each row would cost more than all its other columns.
ALTER TABLE requests ADD COLUMN trace text;

-- A request id is a moment, so these find the newest of a project and the newest that went wrong.
CREATE INDEX requests_by_project ON requests (project, request_id DESC);
CREATE INDEX requests_gone_wrong ON requests (request_id DESC) WHERE status >= 400;

-- The newest image jobs, of all projects and of one.
CREATE INDEX image_jobs_by_project ON image_jobs (project, job_id DESC);
