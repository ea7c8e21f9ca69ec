-- Finds the corrections of a day that an export has taken, without reading those of all days: a killed export may not have recorded
-- its manifest.
CREATE INDEX ledger_corrections_taken ON ledger_corrections (((hour AT TIME ZONE 'UTC')::date), manifest) WHERE manifest IS NOT NULL;
