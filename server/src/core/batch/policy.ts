/**
 * What happens to lines of a batch when an attempt to run them ends with a fault: one table, for texts and images. No
 * caller waits for these lines, so most faults that a caller should retry are here only a reason to wait. A line fails by
 * its upstream only if it fails repeatedly while others of its model succeed: an upstream that is down fails none.
 */
import type { Fault, FaultCode } from '../fault/fault.ts'

/**
 * What a fault is about. `request`: each of the lines would be refused alike. `input`: one of them is at fault. `call`: a
 * call was made and failed, by its upstream or by a line. `moment`: there is no capacity for them at the moment. `budget`:
 * there is too little money for all of them. `standstill`: nothing of the kind can run at present.
 */
export type FaultKind = 'request' | 'input' | 'call' | 'moment' | 'budget' | 'standstill'

/** `fail`: the lines end with the fault. `split`: they are run in parts. `again`: they are run again. `pause`: the batch waits. */
export type Action = 'fail' | 'split' | 'again' | 'pause'

/** The state of the lines of a failed attempt. */
export interface Situation {
  readonly kind: FaultKind
  /** Lines in the attempt. */
  readonly lines: number
  /** Lines that the remaining money pays for. */
  readonly payableLines: number
  /** The attempt was the one made after a pause. */
  readonly isProbe: boolean
  /** A call of the model has succeeded since the chunk was claimed. */
  readonly hasSucceeded: boolean
  /** Repeated failures of these lines, each after a call of the model that began in between had succeeded. */
  readonly failuresBeside: number
  /** Calls of the model that have failed since one succeeded, this one included. */
  readonly failuresInRow: number
  /** Waits of these lines for capacity. */
  readonly waits: number
}

/**
 * Failures beside successes of others until a line is at fault: an upstream that fails every second call rarely hits one
 * line that often.
 */
const MAX_FAILURES_BESIDE = 3
/** Failures in a row until the upstream counts as down: the waits between them are longer than a restart of most servers. */
const MAX_FAILURES_IN_ROW = 3
/** Waits for capacity before the batch pauses: a minute or two. */
const MAX_WAITS = 30

interface PolicyRow {
  readonly name: string
  readonly kind: FaultKind
  readonly when: (situation: Situation) => boolean
  readonly action: Action
}

const always = (): boolean => true

/** The first row that fits decides. */
export const POLICY: readonly PolicyRow[] = [
  { name: 'every line would be refused', kind: 'request', when: always, action: 'fail' },

  {
    name: 'one of several inputs is refused',
    kind: 'input',
    when: ({ lines }) => lines > 1,
    action: 'split',
  },
  { name: 'the only input is refused', kind: 'input', when: always, action: 'fail' },

  {
    name: 'a line fails while others succeed',
    kind: 'call',
    when: ({ lines, failuresBeside }) => lines === 1 && failuresBeside >= MAX_FAILURES_BESIDE,
    action: 'fail',
  },
  { name: 'the attempt after a pause fails', kind: 'call', when: ({ isProbe }) => isProbe, action: 'pause' },
  {
    name: 'the upstream is down',
    kind: 'call',
    when: ({ failuresInRow }) => failuresInRow >= MAX_FAILURES_IN_ROW,
    action: 'pause',
  },
  {
    name: 'several lines fail, and the model answers others',
    kind: 'call',
    when: ({ lines, hasSucceeded }) => lines > 1 && hasSucceeded,
    action: 'split',
  },
  { name: 'a call fails', kind: 'call', when: always, action: 'again' },

  {
    name: 'there is still no room after a pause',
    kind: 'moment',
    when: ({ isProbe }) => isProbe,
    action: 'pause',
  },
  {
    name: 'there has been no room for long',
    kind: 'moment',
    when: ({ waits }) => waits >= MAX_WAITS,
    action: 'pause',
  },
  { name: 'there is no room', kind: 'moment', when: always, action: 'again' },

  {
    name: 'the budget is enough for some of the lines',
    kind: 'budget',
    when: ({ lines, payableLines }) => payableLines > 0 && payableLines < lines,
    action: 'split',
  },
  { name: 'the budget is used up', kind: 'budget', when: always, action: 'pause' },

  { name: 'nothing of the kind can run', kind: 'standstill', when: always, action: 'pause' },
]

export function actionFor(situation: Situation): Action {
  const row = POLICY.find(({ kind, when }) => kind === situation.kind && when(situation))
  if (row === undefined) throw new Error(`no row of the policy is about ${situation.kind}`)
  return row.action
}

/** Fault codes by what they are about. For all others see `kindOf`. */
const KIND_OF_CODE: ReadonlyMap<FaultCode, FaultKind> = new Map<FaultCode, FaultKind>([
  // An upstream's refusal may be about one text, and so are our own checks of inputs.
  ['invalid_input', 'input'],
  ['empty_input', 'input'],
  ['input_too_long', 'input'],
  ['upstream_refused', 'input'],
  ['content_policy_violation', 'input'],
  ['part_unsupported', 'input'],
  ['parts_not_fusible', 'input'],
  ['too_many_parts', 'input'],
  ['invalid_media', 'input'],
  ['media_too_large', 'input'],
  ['media_unreachable', 'input'],
  ['internal_error', 'call'],
  ['upstream_failed', 'call'],
  ['upstream_unreachable', 'call'],
  ['upstream_broken_answer', 'call'],
  ['upstream_timeout', 'call'],
  // Others use the capacity for a moment; or the lines left the queue, because their node stops.
  ['deployments_busy', 'moment'],
  ['upstream_rate_limited', 'moment'],
  ['budget_reserved', 'moment'],
  ['space_left', 'moment'],
  ['space_unprobed', 'moment'],
  ['node_overloaded', 'moment'],
  ['too_many_bodies', 'moment'],
  ['client_closed_request', 'moment'],
  ['budget_exhausted', 'budget'],
  // The key or its project has ended: a person decides, or the batch is cancelled.
  ['key_revoked', 'standstill'],
  ['key_expired', 'standstill'],
  ['project_deleted', 'standstill'],
  // There is no space for results.
  ['too_many_files', 'standstill'],
  ['disk_full', 'standstill'],
])

export function kindOf(fault: Pick<Fault, 'code' | 'entry'>): FaultKind {
  const known = KIND_OF_CODE.get(fault.code)
  if (known !== undefined) return known
  const { status } = fault.entry
  return status >= 500 || status === 429 ? 'standstill' : 'request'
}

/**
 * Faults that only a person can end: by raising a budget, deleting files, continuing the batch, or making its key valid.
 */
const FOR_PERSON: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'budget_exhausted',
  'budget_reserved',
  'too_many_files',
  'key_revoked',
  'key_expired',
  'project_deleted',
])

/**
 * The first pause and the longest. An upstream may be back at any moment; a person takes minutes, and each attempt is a row
 * in the log.
 */
const UPSTREAM_PAUSE = { firstMs: 15_000, mostMs: 60_000 }
const PERSON_PAUSE = { firstMs: 60_000, mostMs: 5 * 60_000 }

/** The pause after a fault, twice the previous one. */
export function pauseAfter({ code }: Pick<Fault, 'code'>, beforeMs = 0): number {
  const { firstMs, mostMs } = FOR_PERSON.has(code) ? PERSON_PAUSE : UPSTREAM_PAUSE
  return Math.min(mostMs, Math.max(firstMs, 2 * beforeMs))
}

/** Waits before failed lines run again; the last one repeats. */
const AGAIN_MS = [1000, 3000] as const
const ROOM_MS = { usual: 1000, most: 5000 }

/** The wait before lines run again. */
export function waitBefore(kind: FaultKind, failures: number, retryAfterMs: number | undefined): number {
  if (kind === 'moment') return Math.min(retryAfterMs ?? ROOM_MS.usual, ROOM_MS.most)
  return failures <= 1 ? AGAIN_MS[0] : AGAIN_MS[1]
}
