/** The arguments and the reply of `take.lua`. */
import { decisionOf } from '#core/limits/limit.ts'
import type { RateDecision, RateLimit, RateTake } from '#core/limits/limit.ts'
import { redisScript } from '#package/files.ts'
import { scriptOf } from './connection.ts'

export const TAKE_SCRIPT = scriptOf(redisScript('take'))

export interface Correction {
  readonly limit: RateLimit
  readonly difference: number
}

export interface TakeCall {
  /** Unique among the calls on its connection. */
  readonly number: number
  readonly corrections: readonly Correction[]
  /** The takes of each request, none of them empty. */
  readonly requests: readonly (readonly RateTake[])[]
  /** Undefined for the time of Redis. */
  readonly nowMicroseconds: number | undefined
}

export function argumentsOf({ number, corrections, requests, nowMicroseconds }: TakeCall): {
  readonly keys: readonly string[]
  readonly json: string
} {
  const keys: string[] = []
  const indexes = new Map<string, number>()
  const indexOf = (limit: RateLimit): number => {
    let index = indexes.get(limit.id)
    if (index === undefined) {
      index = keys.push(keyOf(limit))
      indexes.set(limit.id, index)
    }
    return index
  }
  const json = JSON.stringify({
    number,
    now: nowMicroseconds ?? 0,
    corrections: corrections.map(({ limit, difference }) => [indexOf(limit), limit.perMinute, difference]),
    requests: requests.map((takes) =>
      takes.map(({ limit, amount }) => [indexOf(limit), limit.perMinute, amount]),
    ),
  })
  return { keys, json }
}

/** One decision for each request. Throws when this is not the reply to this call: then replies were lost. */
export function decisionsOf({ number, requests }: TakeCall, reply: unknown): readonly RateDecision[] {
  const length = requests.reduce((sum, takes) => sum + 1 + takes.length, 1)
  if (!isNumbers(reply) || reply.length !== length || reply[0] !== number)
    throw new Error('Redis answered a rate limit call with the reply to another one')
  let position = 1
  return requests.map((takes) => {
    const allowed = reply[position] === 1
    const grains = reply.slice(position + 1, position + 1 + takes.length)
    position += 1 + takes.length
    return decisionOf(takes, allowed, grains)
  })
}

/** The project is the hash tag: on a cluster all limits of a request lie in one slot. */
function keyOf(limit: RateLimit): string {
  return `torana:rate:{${limit.project}}:${limit.id}`
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number')
}
