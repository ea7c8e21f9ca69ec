-- The cosine of each probe text with its reference, in the order of the texts. Null in looks that did not note it.
ALTER TABLE space_probes ADD COLUMN cosines double precision[];
