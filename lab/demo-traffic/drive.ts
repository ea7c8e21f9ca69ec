/** Sends requests at a bounded rate for a bounded time, to this machine alone. */
import { setTimeout as delay } from 'node:timers/promises'
import { chanceFrom } from './chance.ts'
import { nextRequest } from './requests.ts'

export interface DriveOptions {
  /** Where callers reach the node, without a path. */
  readonly url: string
  readonly requestsPerSecond: number
  readonly minutes: number
  readonly seed: number
  /** Called each second with how long it has been going. */
  readonly onSecond: (second: number) => Promise<void>
  readonly signal: AbortSignal
}

/** Requests per second: a demo is no load test. */
const MAX_PER_SECOND = 200
/** Requests in progress. At this many, an upstream hangs, and the demo waits too. */
const MAX_IN_PROGRESS = 200

/** By status, how many answers came. 0: none came. */
export type Answers = Map<number, number>

export async function drive(options: DriveOptions): Promise<Answers> {
  const { url, minutes, seed, onSecond, signal } = options
  refuseElsewhere(url)
  const perSecond = Math.min(MAX_PER_SECOND, Math.max(0.1, options.requestsPerSecond))
  const chance = chanceFrom(seed)
  const answers: Answers = new Map()
  const underWay = new Set<Promise<void>>()
  const endMs = Date.now() + minutes * 60_000
  let owed = 0
  for (let second = 0; Date.now() < endMs && !signal.aborted; second += 1) {
    const beganMs = Date.now()
    await onSecond(second)
    // Traffic breathes: up to a third more or less, in waves of a few minutes.
    owed += perSecond * (1 + Math.sin(second / 40) / 3)
    for (; owed >= 1; owed -= 1) {
      if (underWay.size >= MAX_IN_PROGRESS) continue
      const sent = send(url, nextRequest(chance), answers).finally(() => underWay.delete(sent))
      underWay.add(sent)
      await delay(Math.min(50, 800 / perSecond))
    }
    await delay(Math.max(0, 1000 - (Date.now() - beganMs)), undefined, { signal }).catch(() => {})
  }
  await Promise.all(underWay)
  return answers
}

async function send(url: string, request: ReturnType<typeof nextRequest>, answers: Answers): Promise<void> {
  const { path, secret, body, headers } = request
  const status = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
      ...headers,
    },
    body,
    signal: AbortSignal.timeout(60_000),
  }).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.status
    },
    () => 0,
  )
  answers.set(status, (answers.get(status) ?? 0) + 1)
}

/** Keeps the demo from driving a foreign gateway by mistake. */
function refuseElsewhere(url: string): void {
  const { hostname } = new URL(url)
  if (!/^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(hostname))
    throw new Error(`${hostname} is not this machine: the demo drives nodes on 127.0.0.1 only`)
}
