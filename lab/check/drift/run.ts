/** One run: requests at a steady rate for one model, whose upstream changes its vectors at a random moment. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Behaviour } from '../../fake-provider/behaviour.ts'
import type { FakeProvider } from '../../fake-provider/server.ts'
import { base64Of, vectorOf } from '../../fake-provider/vectors.ts'
import { nowMs, post, WIDTH } from './node.ts'

/** One request: its texts, and the one whose vector is looked at. */
export interface Question {
  readonly texts: readonly string[]
  readonly watched: number
}

export interface RunPlan {
  readonly url: string
  readonly provider: FakeProvider
  readonly model: string
  /** The provider's name for the upstream that changes. */
  readonly mode: string
  readonly change: Partial<Behaviour>
  readonly perSecond: number
  readonly question: (number: number) => Question
  /** Requests per second until shortly before the change. */
  readonly perSecondBefore: number
  /** From the first answer to the change. */
  readonly changeAfterMs: number
  /** Whether a deployment of the model was quarantined. */
  readonly isQuarantined: () => boolean
  /** How long the change may go unnoticed before the run ends in vain. */
  readonly patienceMs: number
  /** How long the traffic goes on after it was noticed. */
  readonly afterMs: number
}

/** One request of a run. */
export interface Seen {
  readonly sentMs: number
  readonly receivedMs: number
  readonly status: number
  readonly code: string
  /** Which space its vector is of, compared bit by bit. Undefined: it has none. */
  readonly vector: 'old' | 'new' | 'neither' | undefined
  readonly space: string
  /** Whether Torana asked a second deployment. */
  readonly isRepeated: boolean
}

export interface RunSeen {
  readonly mode: string
  readonly changedMs: number
  readonly isNoticed: boolean
  readonly all: readonly Seen[]
}

const BUSY_BEFORE_MS = 1500
const LOOK_MS = 100

export async function seenInRun(plan: RunPlan): Promise<RunSeen> {
  const { provider, mode, change, changeAfterMs, patienceMs, afterMs } = plan
  const all: Seen[] = []
  const stopped = new AbortController()
  const noticed = Promise.withResolvers<boolean>()
  let changedMs = Infinity
  const busyMs = nowMs() + changeAfterMs - BUSY_BEFORE_MS
  const rate = (): number => (nowMs() < busyMs ? plan.perSecondBefore : plan.perSecond)
  const sending = steadily(rate, stopped.signal, async (number) => {
    const seen = await asked(plan, plan.question(number))
    all.push(seen)
    if (isNotice(seen, changedMs)) noticed.resolve(true)
  })
  await wait(changeAfterMs)
  changedMs = nowMs()
  await provider.setMode(mode, change)
  const timer = setTimeout(() => noticed.resolve(false), patienceMs)
  const looks = setInterval(() => void (plan.isQuarantined() && noticed.resolve(true)), LOOK_MS)
  const isNoticed = await noticed.promise
  clearTimeout(timer)
  clearInterval(looks)
  await wait(afterMs)
  stopped.abort()
  await sending
  return { mode, changedMs, isNoticed, all }
}

/** Whether the answer shows that the change was noticed: it was withheld, or made by another deployment. */
export function isNotice({ receivedMs, code, isRepeated }: Seen, changedMs: number): boolean {
  return receivedMs > changedMs && (code.startsWith('space_') || isRepeated)
}

/** Whether or not earlier requests were answered. Resolves when all of them were. */
async function steadily(
  perSecond: () => number,
  signal: AbortSignal,
  send: (number: number) => Promise<void>,
): Promise<void> {
  const open = new Set<Promise<void>>()
  let dueMs = nowMs()
  for (let number = 0; !signal.aborted; number += 1) {
    const one = send(number).finally(() => open.delete(one))
    open.add(one)
    dueMs += 1000 / perSecond()
    await wait(Math.max(0, dueMs - nowMs()), undefined, { signal }).catch(() => {
      // The end of the run is the end of the pause.
    })
  }
  await Promise.all(open)
}

async function asked({ url, model }: RunPlan, { texts, watched }: Question): Promise<Seen> {
  const sentMs = nowMs()
  const { status, code, headers, body } = await post(url, { model, input: texts, encoding_format: 'base64' })
  const receivedMs = nowMs()
  return {
    sentMs,
    receivedMs,
    status,
    code,
    vector: status === 200 ? spaceOf(body, texts[watched] ?? '') : undefined,
    space: headers.get('x-torana-space') ?? '',
    isRepeated: Number(headers.get('x-torana-attempts') ?? 1) > 1,
  }
}

function spaceOf(body: string, text: string): 'old' | 'new' | 'neither' {
  const has = (vector: Float32Array): boolean => body.includes(`"${base64Of(vector)}"`)
  if (has(vectorOf(text, WIDTH))) return 'old'
  return has(changedVector(text)) ? 'new' : 'neither'
}

/** What the changed upstream answers to a text. */
export function changedVector(text: string): Float32Array {
  return vectorOf(`other model: ${text}`, WIDTH)
}
