/** Brings many jobs to one gap of their lives in one process, kills it, and checks what another process makes of them. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../../../server/test/support/random.ts'
import { until } from '../../processes.ts'
import { ask, order, promptDigest, type Order } from './client.ts'
import type { Gap } from './gaps.ts'
import { startImageGateway } from './gateway.ts'
import { withDatabase } from '../ledger-checks.ts'
import { newPlace, type House, type Place } from './house.ts'
import { testify, type Tally } from './witnesses.ts'

export interface KillOptions {
  readonly jobs: number
  /** The next process finds the data folder of the dead one, as on the same machine, or none, as on another. */
  readonly folder: 'same' | 'another'
  /** Ends leases by hand, instead of waiting: the holder is certainly dead. */
  readonly isHurried?: boolean
  readonly random: Random
}

/** Time for all of them to arrive there. */
const ARRIVAL_MS = 120_000
/** A lease, and the work of a busy machine. */
const END_MS = 180_000

let places = 0

export async function killAt(house: House, gap: Gap, options: KillOptions): Promise<Tally> {
  places += 1
  const name = `gap-${places}`
  const place = await newPlace(house, name)
  const arrivalsFile = join(place.folder, 'arrivals')
  const held = 'probe' in gap.at ? { place: gap.at.probe, file: arrivalsFile } : undefined
  const victim = await startImageGateway(place, { name: 'victim', dataDir: 'data', held })
  const orders = Array.from({ length: options.jobs }, (_, index) =>
    order(`${name} ${options.folder}`, index, gap),
  )
  // No client gets an answer, unless the kill comes at any moment.
  const asked = orders.map(async (one, index) => {
    if ('randomMs' in gap.at) await wait(index * 100)
    return ask(victim.url, one).catch(() => undefined)
  })
  await arrived(place, gap, orders, arrivalsFile, options.random)
  const crash = victim.crash()
  await victim.kill9()
  await Promise.all(asked)
  if (options.isHurried) await endLeases(place)

  const dataDir = options.folder === 'same' ? 'data' : 'other-data'
  const next = await startImageGateway(place, { name: 'next', dataDir })
  try {
    // Jobs that were not begun yet are begun now; the others are joined while their holder is dead.
    if (gap.afterwards === 'either') await Promise.all(orders.map((one) => ask(next.url, one)))
    await allEnded(place)
    const tally = await testify(place, next.url, orders, {
      name: gap.name,
      kills: options.jobs,
      afterwards: gap.afterwards,
      isConverted: gap.fields?.['output_format'] !== undefined,
    })
    const crashes = [crash, next.crash()].filter((one) => one !== undefined)
    return { ...tally, other: [...tally.other, ...crashes].map((what) => `${what} (${place.folder})`) }
  } finally {
    await next.kill9()
  }
}

async function arrived(
  { house }: Place,
  { at }: Gap,
  orders: readonly Order[],
  file: string,
  random: Random,
): Promise<void> {
  const count = (): number =>
    'probe' in at ? linesOf(file) : seenBy(house, orders, 'provider' in at ? at.provider : 'served')
  const awaited = 'randomMs' in at ? 1 : orders.length * ('probe' in at ? (at.arrivals ?? 1) : 1)
  await until(`${awaited} come to the gap, see ${file}`, ARRIVAL_MS, () => count() >= awaited)
  if ('randomMs' in at) await wait(random.next() * at.randomMs)
}

function linesOf(file: string): number {
  return existsSync(file) ? new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean)).size : 0
}

function seenBy(
  { provider }: Pick<House, 'provider'>,
  orders: readonly Order[],
  what: 'served' | 'polled',
): number {
  const digests = new Set(orders.map(promptDigest))
  const entries = provider.entries()
  const bought = entries.filter(({ served, promptSha256 = '' }) => served && digests.has(promptSha256))
  if (what === 'served') return bought.length
  const jobIds = new Set(bought.map(({ jobId }) => jobId))
  const polled = entries.filter(({ operation, jobId }) => operation === 'poll' && jobIds.has(jobId))
  return new Set(polled.map(({ jobId }) => jobId)).size
}

async function endLeases({ databaseUrl }: Place): Promise<void> {
  await withDatabase(databaseUrl, (client) => client.query('UPDATE image_jobs SET lease_until = now()'))
}

/** The witnesses report a job that never ends. */
export async function allEnded({ databaseUrl }: Place): Promise<void> {
  const endMs = performance.now() + END_MS
  await withDatabase(databaseUrl, async (client) => {
    while (performance.now() < endMs) {
      const { rows } = await client.query("SELECT 1 FROM image_jobs WHERE state IN ('leased', 'dispatched')")
      if (rows.length === 0) return
      await wait(100)
    }
  })
}
