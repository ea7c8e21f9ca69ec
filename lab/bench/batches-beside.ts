/**
 * The effect of a batch on waiting callers. The upstream does 32 calls at once, each 100 ms and 1 ms for each text. Callers
 * ask for 10, 50 and 90 % of its capacity, and in bursts, without a batch and with one.
 */
import {
  countersOf,
  KEY,
  MODEL,
  create,
  doneOf,
  startStage,
  startUpstream,
  upload,
  writeLines,
} from './batch-stage.ts'
import { answered, latencyMs, send, statusesOf } from './load-stage.ts'
import type { SentRequest } from '../sender.ts'
import { stopAll } from '../processes.ts'
import type { Report } from '../report.ts'

const PARALLEL = 32
const CALL_MS = 100
const INPUT_MS = 1
const WIDTH = 16
const PER_SECOND = (PARALLEL * 1000) / (CALL_MS + INPUT_MS)
const LOADS = [0.1, 0.5, 0.9]
/** A burst and the quiet time after it, as shares of the upstream's capacity. */
const BURST = [0.9, 0.1] as const
const BURSTS = 3
/** Time at the beginning that does not count, while call sizes adapt. */
const SETTLING_MS = 4000
const PATIENCE_MS = 5000
const AIM_P99 = 1.2
const AIM_USED = 0.9
/** More than all measurements get through: calls of 256 texts make 23,000 texts a second. */
const LINES = 400_000
const BATCHES = 8

interface Seen {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly refused: number
  readonly statuses: string
}

type Wave = readonly { readonly share: number; readonly seconds: number }[]

export async function measureBeside(folder: string, seconds: number, report: Report): Promise<void> {
  const plan = { width: WIDTH, parallel: PARALLEL, callMs: CALL_MS, inputMs: INPUT_MS }
  const upstream = await startUpstream(plan, folder)
  const stage = await startStage({
    folder,
    baseUrl: `${upstream.origin}/v1`,
    width: WIDTH,
    maxConcurrent: PARALLEL,
  })
  const { port } = stage.torana
  const waves = new Map<string, Wave>(
    LOADS.map((share) => [`${share * 100} %`, [{ share, seconds }]] as const),
  )
  const [high, low] = BURST
  const each = seconds / (2 * BURSTS)
  const burst = [
    { share: high, seconds: each },
    { share: low, seconds: each },
  ]
  waves.set('bursts', Array.from({ length: BURSTS }, () => burst).flat())
  await people(port, [{ share: 0.5, seconds: 5 }])
  const alone = new Map<string, Seen>()
  for (const [name, wave] of waves) alone.set(name, seenBy(await people(port, wave)))

  const file = await upload(stage, await writeLines(folder, LINES, (line) => `text ${line}`))
  const batches = await Promise.all(Array.from({ length: BATCHES }, () => create(stage, file)))
  for (const [name, wave] of waves) {
    await countersOf(upstream)
    const sent = await people(port, wave)
    const { several, single } = await countersOf(upstream)
    const seen = await Promise.all(batches.map(({ id }) => doneOf(stage, id)))
    if (seen.every(({ isEnded }) => isEnded)) throw new Error('the batches ended before their measurement')
    const before = alone.get(name) as Seen
    const beside = seenBy(sent)
    const slotMs = PARALLEL * several.seconds * 1000
    const used = several.busyMs / (slotMs - single.busyMs)
    const ratio = beside.p99Ms / before.p99Ms
    report.figure(
      `${name}: p50 alone, beside`,
      `${before.p50Ms.toFixed(1)} ms, ${beside.p50Ms.toFixed(1)} ms`,
    )
    report.aim(
      `${name}: p99 alone, beside`,
      `${before.p99Ms.toFixed(1)} ms, ${beside.p99Ms.toFixed(1)} ms: ${ratio.toFixed(2)} times`,
      `≤ ${AIM_P99} times`,
      ratio <= AIM_P99,
    )
    report.aim(
      `${name}: refusals more`,
      `${beside.refused - before.refused} (${beside.statuses})`,
      '0',
      beside.refused <= before.refused,
    )
    report.aim(
      `${name}: the batch used of what was left`,
      `${(used * 100).toFixed(0)} %, ${(several.inputs / several.calls).toFixed(0)} texts a call, ${(several.inputs / several.seconds).toFixed(0)} texts a second`,
      `≥ ${AIM_USED * 100} %`,
      used >= AIM_USED,
    )
  }
  report.print(
    `B: people beside a batch, ${PER_SECOND.toFixed(0)} requests a second are all that the upstream can do`,
  )
  await stopAll(stage.torana.pid, upstream.pid)
}

async function people(port: number, wave: Wave): Promise<readonly SentRequest[]> {
  const sent: SentRequest[] = []
  for (const { share, seconds } of wave) {
    const streams = [{ key: KEY, model: MODEL, perSecond: PER_SECOND * share }]
    sent.push(...(await send({ port, seconds, patienceMs: PATIENCE_MS, streams })).flat())
  }
  return sent
}

function seenBy(sent: readonly SentRequest[]): Seen {
  const fromMs = Math.min(...sent.map(([atMs]) => atMs)) + SETTLING_MS
  const counted = sent.filter(([atMs]) => atMs >= fromMs)
  const served = answered(counted)
  return {
    p50Ms: latencyMs(served, 0.5),
    p99Ms: latencyMs(served, 0.99),
    refused: counted.length - served.length,
    statuses: statusesOf(counted),
  }
}
