/** The faults of one round: when, at which target, and for how long; drawn from the seed. */
import { setTimeout as wait } from 'node:timers/promises'
import { eventually } from '../../server/test/support/process.ts'
import type { TestServer } from '../../server/test/support/servers.ts'
import type { Cluster } from './cluster.ts'
import { answerTo } from './failovers/sentinel.ts'
import type { Random } from '../../server/test/support/random.ts'

type FaultKind = 'gateway' | 'postgres' | 'redis' | 'flush' | 'pause' | 'swallow'

export interface Fault {
  readonly kind: FaultKind
  readonly atMs: number
  readonly forMs: number
  /** Which gateway. */
  readonly gateway: number
}

export interface FaultCounts {
  readonly gateway: number
  readonly postgres: number
  readonly redis: number
}

/** A kill is most interesting while everything is at work; the load needs a moment for that. */
const FIRST_MS = 1500
/** Longest outages. A server that dies is usually back soon; half of them are unreachable for longer than any timeout. */
const OUTAGE_MS = { postgres: 6000, redis: 3000 }
const PAUSE_MS = 10_000
/** One reply in twenty. */
const SWALLOWED_SHARE = 0.05
/** A port may be held for a moment by earlier connections. */
const RESTART_MS = 60_000

/** Additional faults of Redis, in turn, one per round. */
const REDIS_TROUBLE: readonly FaultKind[] = ['flush', 'pause', 'swallow']

export function planFaults(
  random: Random,
  {
    counts,
    seconds,
    round,
    gateways: size,
  }: { counts: FaultCounts; seconds: number; round: number; gateways: number },
): readonly Fault[] {
  const lengthMs = seconds * 1000 - FIRST_MS
  const gateway = (): number => random.below(size)
  /** One after another: each has a separate part of the round and ends within it. */
  const inTurn = (kinds: readonly FaultKind[], longestMs: (kind: FaultKind) => number): Fault[] =>
    kinds.map((kind, index) => {
      const partMs = lengthMs / kinds.length
      const forMs = Math.min(longestMs(kind), partMs * 0.95)
      const atMs = FIRST_MS + index * partMs + random.next() * (partMs - forMs)
      return { kind, gateway: gateway(), atMs, forMs }
    })
  const gateways = Array.from({ length: counts.gateway }, () => ({
    kind: 'gateway' as const,
    gateway: gateway(),
    atMs: FIRST_MS + random.next() * lengthMs,
    forMs: 0,
  }))
  const postgres = inTurn(
    Array.from({ length: counts.postgres }, () => 'postgres' as const),
    () => random.next() * OUTAGE_MS.postgres,
  )
  const trouble = REDIS_TROUBLE[round % REDIS_TROUBLE.length] as FaultKind
  const redisKinds = Array.from({ length: counts.redis }, (): FaultKind => 'redis')
  redisKinds.splice(random.below(counts.redis + 1), 0, trouble)
  const redis = inTurn(redisKinds, (kind) => (kind === 'redis' ? random.next() * OUTAGE_MS.redis : PAUSE_MS))
  return [...gateways, ...postgres, ...redis].toSorted((left, right) => left.atMs - right.atMs)
}

/** What actually happened, in Unix time, for a search for the cause. */
export interface Inflicted {
  readonly kind: FaultKind
  readonly gateway: number
  readonly from: string
  readonly to: string
}

/** Resolves when the last of them is over. Faults of one target happen one after another. */
export async function inflict(cluster: Cluster, faults: readonly Fault[]): Promise<readonly Inflicted[]> {
  const startedMs = performance.now()
  const inflicted: Inflicted[] = []
  const byTarget = Map.groupBy(faults, ({ kind }) =>
    kind in OUTAGE_MS || kind === 'gateway' ? kind : 'redis',
  )
  await Promise.all(
    Array.from(byTarget.values(), async (ofOne) => {
      for (const fault of ofOne) {
        await wait(Math.max(0, fault.atMs - (performance.now() - startedMs)))
        const { kind, gateway } = fault
        if (kind === 'gateway') await othersReady(cluster, gateway)
        const from = new Date().toISOString()
        await inflictOne(cluster, fault)
        inflicted.push({ kind, gateway, from, to: new Date().toISOString() })
      }
    }),
  )
  return inflicted
}

/** On a slow machine all of them could be starting, and nothing would be at work. The victim itself may be starting. */
async function othersReady({ gateways }: Cluster, victim: number): Promise<void> {
  await Promise.all(gateways.filter((_, index) => index !== victim).map((gateway) => gateway.ready()))
}

async function inflictOne(cluster: Cluster, { kind, forMs, gateway }: Fault): Promise<void> {
  const { gateways, postgres, redis, redisReplies } = cluster
  switch (kind) {
    case 'gateway':
      return gateways[gateway]?.kill9()
    case 'postgres':
      return killFor(postgres, forMs)
    case 'redis':
      return killFor(redis, forMs)
    case 'flush':
      return void (await answerTo(redis.port, 'FLUSHALL'))
    case 'pause':
      redis.pause()
      await wait(forMs)
      return redis.resume()
    case 'swallow':
      redisReplies.swallowedShare = SWALLOWED_SHARE
      await wait(forMs)
      redisReplies.swallowedShare = 0
  }
}

export async function killFor(server: TestServer, forMs: number): Promise<void> {
  await server.kill9()
  await wait(forMs)
  await eventually(() => server.restart(), RESTART_MS)
}
