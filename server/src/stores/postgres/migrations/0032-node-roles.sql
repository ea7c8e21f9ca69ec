-- What each process does. One that takes no requests has no share in limits, one without chores never leads.
ALTER TABLE nodes ADD COLUMN role text NOT NULL DEFAULT 'all';
