/** What ends the pause of a batch, and what a person can do: one table, for the control API and the commands. */
import type { FaultCode } from '../fault/fault.ts'
import { FAULTS } from '../fault/table.ts'

/** Code of a pause that a person made. */
export const PAUSED_BY_PERSON = 'paused_by_person'

/**
 * `resume`: a person resumes it. `raise_budget`: it continues when there is money. `continue`: a person lets it go on
 * without its key. `free_storage`: files have to be deleted. `check_space`: a deployment has to come back to its space.
 * `check_upstream`: the upstream has to answer again. `wait`: nothing is to be done.
 */
export const REMEDIES = [
  'resume',
  'raise_budget',
  'continue',
  'free_storage',
  'check_space',
  'check_upstream',
  'wait',
] as const
export type Remedy = (typeof REMEDIES)[number]

interface RemedyRow {
  readonly codes: readonly (FaultCode | typeof PAUSED_BY_PERSON)[]
  readonly remedy: Remedy
  /** Whether Torana tries again by itself. */
  readonly retries: boolean
  readonly text: string
}

export const REMEDY_ROWS: readonly RemedyRow[] = [
  {
    codes: [PAUSED_BY_PERSON],
    remedy: 'resume',
    retries: false,
    text: 'A person paused it. It continues when a person resumes it.',
  },
  {
    codes: ['budget_exhausted', 'budget_reserved'],
    remedy: 'raise_budget',
    retries: true,
    text: 'The hard budget does not cover the next lines. Raise it, or wait for its next window.',
  },
  {
    codes: ['key_revoked', 'key_expired'],
    remedy: 'continue',
    retries: false,
    text: 'Its key was revoked or has expired. Continue it under the budget and models of its project, or cancel it.',
  },
  {
    codes: ['too_many_files', 'disk_full'],
    remedy: 'free_storage',
    retries: true,
    text: 'There is no space for its results. Delete files that are no longer needed, or raise the limit.',
  },
  {
    codes: ['space_quarantined', 'space_left', 'space_unknown'],
    remedy: 'check_space',
    retries: true,
    text: 'No deployment is in the vector space of its model. It continues when one is back, or when another space is accepted.',
  },
  {
    codes: ['space_unprobed'],
    remedy: 'check_space',
    retries: true,
    text: 'A deployment does not answer its probe. It continues when a probe is good; what this deployment made last is made again after 15 minutes without one.',
  },
  {
    codes: [
      'upstream_failed',
      'upstream_unreachable',
      'upstream_broken_answer',
      'upstream_model_missing',
      'upstream_rejected_us',
      'upstream_timeout',
      'no_healthy_deployment',
      'deployments_drained',
    ],
    remedy: 'check_upstream',
    retries: true,
    text: 'Its upstream fails. Torana tries one line at a time, and continues when it succeeds.',
  },
]

const WAIT: Omit<RemedyRow, 'codes' | 'text'> = { remedy: 'wait', retries: true }

/** Any other fault passes by itself: its meaning says what it is. */
export function remedyFor(code: string): Omit<RemedyRow, 'codes'> {
  const row = REMEDY_ROWS.find(({ codes }) => (codes as readonly string[]).includes(code))
  if (row !== undefined) return row
  const known = (FAULTS as Readonly<Record<string, { readonly meaning: string } | undefined>>)[code]
  return { ...WAIT, text: known?.meaning ?? 'Torana tries again by itself.' }
}
