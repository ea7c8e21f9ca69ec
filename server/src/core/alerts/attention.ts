/** What needs a person: the list on the overview, from which alerts are made too. */

export const ATTENTION_KINDS = [
  'deployment_ejected',
  'deployment_rejected_us',
  'space_left',
  'space_warned',
  'unknowns_open',
  'usage_above_expected',
  'budget_mark',
  'budget_used_up',
  'deployment_unpriced',
  'unpriced_refused',
  'model_retired_used',
  'model_ends',
  'key_idle',
  'key_ends',
  'node_silent',
  'spool_waiting',
  'store_away',
  'doctor_wrong',
  'webhook_given_up',
  'partition_missing',
  'labels_overflowed',
  'ledger_stalled',
] as const

export const ATTENTION_SEVERITIES = ['bad', 'odd', 'warn', 'off'] as const

export const ATTENTION_SUBJECTS = [
  'deployment',
  'model',
  'key',
  'budget',
  'node',
  'store',
  'unknowns',
  'project',
] as const

export interface Attention {
  readonly id: string
  readonly kind: (typeof ATTENTION_KINDS)[number]
  readonly severity: (typeof ATTENTION_SEVERITIES)[number]
  /** ISO 8601. */
  readonly since: string
  readonly subject: { readonly type: (typeof ATTENTION_SUBJECTS)[number]; readonly id: string }
  readonly figures: Record<string, string | number>
}
