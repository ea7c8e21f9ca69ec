/** What a fault means for lines that nobody waits for: most of what a caller is told to retry is here only a reason to wait. */
import type { Fault, FaultCode } from '#core/fault/fault.ts'

/**
 * `lines`: every one of them would be refused alike. `text`: one of them is at fault. `failing`: their upstream, or one of them.
 * `soon`: there is no room for them at the moment. `later`: nothing of the kind can run at present.
 */
export type Verdict = 'lines' | 'text' | 'failing' | 'soon' | 'later'

/** An upstream's refusal may be about one text, and so are our own checks of inputs. */
const OF_ONE_TEXT: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'invalid_input',
  'empty_input',
  'input_too_long',
  'upstream_refused',
  'content_policy_violation',
])

/** A call was made and failed. */
const OF_A_CALL: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'internal_error',
  'upstream_failed',
  'upstream_unreachable',
  'upstream_broken_answer',
  'upstream_timeout',
])

/** Others have what they need, for a moment; or the lines left their place in line, since their node stops. */
const OF_A_MOMENT: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'deployments_busy',
  'upstream_rate_limited',
  'budget_reserved',
  'space_left',
  'space_unprobed',
  'node_overloaded',
  'client_closed_request',
])

/** Its key has ended, or its project: a person decides, or the batch is cancelled. */
const OF_RIGHTS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'key_revoked',
  'key_expired',
  'project_deleted',
])

export function verdictOn(fault: Fault): Verdict {
  if (OF_ONE_TEXT.has(fault.code)) return 'text'
  if (OF_A_CALL.has(fault.code)) return 'failing'
  if (OF_A_MOMENT.has(fault.code)) return 'soon'
  if (OF_RIGHTS.has(fault.code)) return 'later'
  const { status } = fault.entry
  return status >= 500 || status === 429 ? 'later' : 'lines'
}

/** Only a person can raise a budget or delete files. */
const OF_LIMITS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'budget_exhausted',
  'budget_reserved',
  'too_many_files',
])

/** Whether a person has to act before lines can run again: raise a budget, delete files, continue the batch, make its key good. */
export function isForPerson({ code }: Fault): boolean {
  return OF_RIGHTS.has(code) || OF_LIMITS.has(code)
}

/** The line that the fault names by the place of its input. Undefined: it names none. */
export function namedInput({ param, upstream }: Fault): number | undefined {
  // An upstream counts the inputs of its call, where equal texts stand once.
  if (upstream !== undefined) return undefined
  const [, place] = /^input\[(\d+)\]/.exec(param ?? '') ?? []
  return place === undefined ? undefined : Number(place)
}
