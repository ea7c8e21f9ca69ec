-- One project's hours: what a budget has spent. Rollup rows change in place, since no index knows their sums, so that it costs
-- something only when an hour begins.
CREATE INDEX IF NOT EXISTS usage_hours_by_project ON usage_hours (project, hour);
