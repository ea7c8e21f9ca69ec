/** Shared by all clients: the address, the key, how they leave, and which answers may be errors. */
import type { Project } from './config.ts'
import type { Leaving, Received } from './exchange.ts'
import type { Tally } from './tally.ts'

export interface Visit {
  readonly origin: string
  readonly project: Project
  readonly tally: Tally
}

let words = 0

/** Unlike any other of this run. */
export function newWord(): string {
  words += 1
  return `w${words}`
}

export function chance(share: number): boolean {
  return Math.random() < share
}

export function below(limit: number): number {
  return Math.floor(Math.random() * limit)
}

export function oneOf<Item>(items: readonly Item[]): Item {
  return items[below(items.length)] as Item
}

/** `mostMs`: about as long as an answer takes. */
export function leavingOf(share: number, mostMs: number): Leaving | undefined {
  if (!chance(share)) return undefined
  return oneOf<Leaving>([
    { while: 'sending', share: Math.random() },
    { while: 'waiting', ms: below(mostMs) },
    { while: 'reading', bytes: 1 + below(4000) },
  ])
}

/** Nothing that the clients ask is wrong: any other error is the gateway's own. */
const EXPECTED = new Set([
  'outcome_unknown',
  'upstream_rate_limited',
  'upstream_failed',
  'upstream_unreachable',
  'upstream_broken_answer',
  'upstream_timeout',
  'deployments_busy',
  'overloaded',
  'too_many_image_jobs',
  // On a machine so busy that a statement takes seconds.
  'image_store_unreachable',
])

/** Whether the answer should be checked; an error is counted, and is wrong where it should not occur. */
export function isAnswer({ tally }: Visit, what: string, { status, body }: Received): boolean {
  if (status === 200) {
    tally.count(`${what} 200`)
    return true
  }
  const code = codeOf(body)
  tally.count(`${what} ${status} ${code}`)
  tally.must(EXPECTED.has(code), () => `${what} answered ${status}: ${body.toString().slice(0, 300)}`)
  return false
}

function codeOf(body: Buffer): string {
  try {
    const { error } = JSON.parse(body.toString()) as { error?: { code?: string } }
    return error?.code ?? 'no code'
  } catch {
    return 'no JSON'
  }
}
