/** What a rule can alert on, in the order in which they are offered. */
export const ALERT_KINDS = [
  'budget',
  'ejected',
  'space',
  'error_rate',
  'latency',
  'model_ending',
  'unknowns',
  'spool',
  'certificate',
  'node_down',
  'ledger_stalled',
  'audit_behind',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]
