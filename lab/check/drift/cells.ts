/** Many runs of one kind at one rate, side by side in one node, and what came of them. */
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Behaviour } from '../../fake-provider/behaviour.ts'
import type { LogEntry } from '../../fake-provider/log.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { tokensOf } from '../../fake-provider/vectors.ts'
import { RIDE_TEXT } from '../../../server/src/core/embedding/probe-texts.ts'
import type { Workplace } from '../../workplace.ts'
import { startNode, WIDTH } from './node.ts'
import { isNotice, seenInRun, type RunSeen } from './run.ts'

/**
 * `alone`: the model's only deployment changes. `second`: one of two does. `replicas`: every second call reaches the changed one of
 * two replicas behind one address. `chance`: each call reaches either of them by chance.
 */
export const KINDS = ['alone', 'second', 'replicas', 'chance'] as const
type Kind = (typeof KINDS)[number]

export interface Cell {
  readonly kind: Kind
  readonly perSecond: number
  readonly runs: number
  /** Runs side by side. */
  readonly atOnce: number
  /** Of rides. The same for all cells of a node. */
  readonly intervalMs: number
  /** How long a change may go unnoticed. */
  readonly patienceMs: number
  /** How long the traffic goes on after it was noticed. */
  readonly afterMs: number
}

/** What one run shows. */
export interface RunFigures {
  readonly isNoticed: boolean
  /** Vectors of the new space that left with status 200. */
  readonly leaked: number
  /** Seconds from the change to the last of them. */
  readonly leakedSeconds: number
  /** Those that were asked for after the upstream had answered the first ride that met the change. */
  readonly leakedAfterRide: number
  /** Those that came after the first answer that was withheld, or made elsewhere. */
  readonly leakedAfterNotice: number
  /** Rides that were answered from the change on, up to the first that met it. */
  readonly rides: number
  /** Vectors of neither space, or under another name. */
  readonly wrong: number
  /** Refusals after the change by code, and before it. */
  readonly refused: Readonly<Record<string, number>>
  readonly refusedBefore: number
  readonly requests: number
}

/** Time of an upstream's answer, so that calls are in progress when the change is noticed. */
const ANSWER_MS = 20
/** Time in which the first call, and the first ride beside it, are answered. */
const WARM_UP_MS = 2000
const PROBE_INPUTS = 8

/** All of them in one node. Figures of the runs of each cell, in their order. */
export async function measuredCells(
  cells: readonly Cell[],
  place: Workplace,
  databaseUrl: string,
): Promise<readonly (readonly RunFigures[])[]> {
  const [{ intervalMs } = { intervalMs: 0 }] = cells
  const name = cells.map(nameOf).join('-')
  const logFile = join(place.folder, `served-${name}.jsonl`)
  const provider = await startFakeProvider({ logFile })
  const upstreamOf = (mode: string): object => ({
    dialect: 'openai',
    baseUrl: `${provider.url}/slow-${ANSWER_MS}+mode-${mode}/v1`,
    apiKey: 'sk-upstream-0123456789',
  })
  const deploymentsOf = (mode: string): readonly string[] =>
    mode.startsWith('second') ? [mode, `${mode}-healthy`] : [mode]
  const modes = cells.flatMap(modesOf)
  const torana = await startNode({
    place,
    name,
    databaseUrl,
    upstreams: Object.fromEntries(modes.flatMap(deploymentsOf).map((mode) => [mode, upstreamOf(mode)])),
    models: Object.fromEntries(
      modes.map((mode) => [
        mode,
        {
          kind: 'embedding',
          embedding: { dimensions: WIDTH },
          price: { usdPerMillionTokens: 0.02 },
          deployments: deploymentsOf(mode).map((upstream) => ({ upstream, model: `embed-w${WIDTH}` })),
        },
      ]),
    ),
    limits: { rideIntervalMs: intervalMs },
  })
  const seen = await Promise.all(
    cells.map((cell) =>
      inPool(modesOf(cell), cell.atOnce, (mode) => {
        const { kind, perSecond, patienceMs, afterMs } = cell
        const changeAfterMs = WARM_UP_MS + Math.random() * intervalMs
        const change = changeOf(kind)
        const { url } = torana
        return seenInRun({
          url,
          provider,
          model: mode,
          mode,
          change,
          perSecond,
          changeAfterMs,
          patienceMs,
          afterMs,
        })
      }),
    ),
  )
  await torana.stop()
  await provider.close()
  const rides = await ridesIn(logFile)
  return seen.map((runs) => runs.map((run) => figuresOf(run, rides.get(run.mode) ?? [])))
}

export function nameOf({ kind, perSecond }: Cell): string {
  return `${kind}-${perSecond}`
}

/** The models of a cell, and the provider's names for the upstreams that change: one for each run. */
function modesOf(cell: Cell): readonly string[] {
  return Array.from({ length: cell.runs }, (_, number) => `${nameOf(cell)}-${number}`)
}

function changeOf(kind: Kind): Partial<Behaviour> {
  const change = { vectors: 'other-model' }
  if (kind === 'alone' || kind === 'second') return change
  return { ...change, share: 0.5, byChance: kind === 'chance' }
}

async function inPool<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const left = [...items]
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) results.push(await work(next))
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}

interface Ride {
  readonly atMs: number
  readonly isChanged: boolean
}

/** Every call with the ride text, by the provider's name of its upstream, in the order of their answers. */
async function ridesIn(logFile: string): Promise<ReadonlyMap<string, readonly Ride[]>> {
  const rides = new Map<string, Ride[]>()
  const isRide = ({ inputs, tokens }: LogEntry): boolean =>
    inputs === 2 || inputs === PROBE_INPUTS || tokens === tokensOf(RIDE_TEXT)
  for await (const line of createInterface({ input: createReadStream(logFile) })) {
    const entry = JSON.parse(line) as LogEntry
    const mode = /mode-([\w.-]+)/.exec(entry.scenario)?.[1]
    if (mode === undefined || !isRide(entry)) continue
    const known = rides.get(mode) ?? []
    known.push({ atMs: Date.parse(entry.at), isChanged: entry.vectors !== undefined })
    rides.set(mode, known)
  }
  return rides
}

function figuresOf({ isNoticed, changedMs, all }: RunSeen, rides: readonly Ride[]): RunFigures {
  const leaked = all.filter(({ vector }) => vector === 'new')
  // The log has whole milliseconds.
  const since = rides.filter(({ atMs }) => atMs >= Math.floor(changedMs))
  const met = since.findIndex(({ isChanged }) => isChanged)
  const metMs = since[met]?.atMs ?? Infinity
  const spaces = new Set(all.flatMap(({ space }) => (space === '' ? [] : [space])))
  const failed = all.filter(({ status }) => status !== 200)
  const noticedMs = Math.min(
    ...all.filter((seen) => isNotice(seen, changedMs)).map((seen) => seen.receivedMs),
  )
  const refused: Record<string, number> = {}
  for (const { receivedMs, status, code } of failed)
    if (receivedMs >= changedMs) refused[`${status} ${code}`] = (refused[`${status} ${code}`] ?? 0) + 1
  return {
    isNoticed,
    leaked: leaked.length,
    leakedSeconds: Math.max(0, ...leaked.map(({ receivedMs }) => (receivedMs - changedMs) / 1000)),
    leakedAfterRide: leaked.filter(({ sentMs }) => sentMs > metMs + 1).length,
    leakedAfterNotice: leaked.filter(({ receivedMs }) => receivedMs > noticedMs).length,
    rides: met + 1,
    wrong: all.filter(({ vector }) => vector === 'neither').length + (spaces.size === 1 ? 0 : 1),
    refused,
    refusedBefore: failed.filter(({ receivedMs }) => receivedMs < changedMs).length,
    requests: all.length,
  }
}
