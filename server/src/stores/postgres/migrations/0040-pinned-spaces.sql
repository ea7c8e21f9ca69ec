-- Who would get 412 if the space of a model changed, and who changed it last.

-- The space that a request named and got; null: it named none.
ALTER TABLE requests ADD COLUMN pinned_space text COLLATE "C";
-- Holds those requests only, with all that is counted of them.
CREATE INDEX requests_pinned ON requests (request_id DESC) INCLUDE (pinned_space, key_id)
  WHERE pinned_space IS NOT NULL;

-- Null: nobody did, it is what the first deployment answered.
ALTER TABLE space_references ADD COLUMN accepted_by text;
UPDATE space_references SET accepted_by = (
  SELECT actor FROM audit WHERE action = 'space.accept' AND target = space_references.model
  ORDER BY sequence DESC LIMIT 1
) WHERE generation > 1;
