/** Many runs of one kind at one rate, side by side in one node, and what came of them. */
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { LogEntry } from '../../fake-provider/log.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import type { Workplace } from '../../workplace.ts'
import { changeOf, isSized, questionsOf, sizeOf, type Kind } from './kinds.ts'
import { QuarantineWatch, startNode, WIDTH } from './node.ts'
import { isNotice, seenInRun, type RunSeen } from './run.ts'

export interface Cell {
  readonly kind: Kind
  readonly perSecond: number
  readonly runs: number
  /** Runs side by side. */
  readonly atOnce: number
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
  /** Those that were asked for after the upstream had answered the first probe that met the change. */
  readonly leakedAfterProbe: number
  /** Those that came after the first answer that was withheld, or made elsewhere. */
  readonly leakedAfterNotice: number
  /** Probes that were answered from the change on, up to the first that met it. */
  readonly probes: number
  /** Vectors of neither space, or under another name. */
  readonly wrong: number
  /** Refusals after the change by code, and before it. */
  readonly refused: Readonly<Record<string, number>>
  readonly refusedBefore: number
  readonly requests: number
}

/** Time of an upstream's answer, so that calls are in progress when the change is noticed. */
const ANSWER_MS = 20
/** Time in which the first call is answered. */
const WARM_UP_MS = 2000
/** Time in which the traffic has paid for a probe of its size, at ten requests per second. */
const EARNING_MS = 25_000
/** The moment of a change is anywhere between two probes. */
const BETWEEN_MS = 20_000
const QUIET_PER_SECOND = 1

/** All of them in one node. Figures of the runs of each cell, in their order. */
export async function measuredCells(
  cells: readonly Cell[],
  place: Workplace,
  databaseUrl: string,
): Promise<readonly (readonly RunFigures[])[]> {
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
  })
  const watch = new QuarantineWatch(torana)
  const seen = await Promise.all(
    cells.map((cell) =>
      inPool([...modesOf(cell).entries()], cell.atOnce, ([run, mode]) => {
        const { kind, perSecond, patienceMs, afterMs } = cell
        const isEarning = isSized(kind)
        const { url } = torana
        return seenInRun({
          url,
          provider,
          model: mode,
          mode,
          change: changeOf(kind, run),
          question: questionsOf(kind, run),
          perSecond,
          // What only has to be in use leaves the machine room for more runs.
          perSecondBefore: isEarning ? perSecond : Math.min(QUIET_PER_SECOND, perSecond),
          changeAfterMs: (isEarning ? EARNING_MS : WARM_UP_MS) + Math.random() * BETWEEN_MS,
          isQuarantined: () => watch.has(mode),
          patienceMs,
          afterMs,
        })
      }),
    ),
  )
  await watch[Symbol.asyncDispose]()
  await torana.stop()
  await provider.close()
  const calls = await callsIn(logFile)
  return seen.map((runs, index) =>
    runs.map((one) => {
      const { kind } = cells[index] as Cell
      const run = Number(one.mode.split('-').at(-1))
      return figuresOf(one, probesIn(calls.get(one.mode) ?? [], sizeOf(kind, run)))
    }),
  )
}

export function nameOf({ kind, perSecond }: Cell): string {
  return `${kind}-${perSecond}`
}

/** The models of a cell, and the provider's names for the upstreams that change: one for each run. */
function modesOf(cell: Cell): readonly string[] {
  return Array.from({ length: cell.runs }, (_, number) => `${nameOf(cell)}-${number}`)
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

/** A call that the provider answered. */
interface AnsweredCall {
  readonly atMs: number
  readonly inputs: number
  readonly tokens: number
  readonly isChanged: boolean
}

/** By the provider's name of the upstream, in the order of their answers. */
async function callsIn(logFile: string): Promise<ReadonlyMap<string, readonly AnsweredCall[]>> {
  const calls = new Map<string, AnsweredCall[]>()
  for await (const line of createInterface({ input: createReadStream(logFile) })) {
    const { at, scenario, inputs, tokens, vectors } = JSON.parse(line) as LogEntry
    const mode = /mode-([\w.-]+)/.exec(scenario)?.[1]
    if (mode === undefined) continue
    const known = calls.get(mode) ?? []
    known.push({ atMs: Date.parse(at), inputs, tokens, isChanged: vectors !== undefined })
    calls.set(mode, known)
  }
  return calls
}

/** Calls of another size than those of callers. */
function probesIn(
  calls: readonly AnsweredCall[],
  callers: { readonly inputs: number; readonly tokens: number },
): readonly AnsweredCall[] {
  return calls.filter(({ inputs, tokens }) => inputs !== callers.inputs || tokens !== callers.tokens)
}

function figuresOf({ isNoticed, changedMs, all }: RunSeen, probes: readonly AnsweredCall[]): RunFigures {
  const leaked = all.filter(({ vector }) => vector === 'new')
  // The log has whole milliseconds.
  const since = probes.filter(({ atMs }) => atMs >= Math.floor(changedMs))
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
    leakedAfterProbe: leaked.filter(({ sentMs }) => sentMs > metMs + 1).length,
    leakedAfterNotice: leaked.filter(({ receivedMs }) => receivedMs > noticedMs).length,
    probes: met + 1,
    wrong: all.filter(({ vector }) => vector === 'neither').length + (spaces.size === 1 ? 0 : 1),
    refused,
    refusedBefore: failed.filter(({ receivedMs }) => receivedMs < changedMs).length,
    requests: all.length,
  }
}
