/**
 * Many parallel large edits, an edit of many large images, and malicious images: their effect on the gateway's memory, on
 * its event loop, and on small requests beside them. The upstreams, the gateway and the callers are separate processes.
 * Exits with 1 when a goal is missed. `npm run lab -- bench/edits`, and `--quick` for a short run without goals of time.
 */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { measureBombs } from './edit-bombs.ts'
import type { Senders, Sent } from './edit-sender.ts'
import {
  EDITS_MODEL,
  EMBEDDINGS_MODEL,
  LOAD_NICENESS,
  MEGABYTE,
  OTHER_CORE,
  startStage,
  type Stage,
} from './edit-stage.ts'
import type { Handles } from './gateway-watch.ts'
import { answered, latencyMs } from './load-stage.ts'
import { scriptOn, type Script } from '../processes.ts'
import { Report } from '../report.ts'
import { SENDER, type Paced, type SentRequest } from '../sender.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    /** Which parts, as in AB. */
    parts: { type: 'string', default: 'ABC' },
    /** Options of Node for the gateway, to compare: `--flags='--cpu-prof'`. */
    flags: { type: 'string', default: '' },
  },
})
const isQuick = options.quick
const FULL = { edits: 50, megabytes: 50, pictures: 16, idleSeconds: 10, bombRounds: 5 }
const QUICK = { edits: 8, megabytes: 10, pictures: 4, idleSeconds: 2, bombRounds: 1 }
const size = isQuick ? QUICK : FULL
const pictureBytes = size.megabytes * MEGABYTE

const BYTES_PER_SECOND = 100 * MEGABYTE
const EMBEDDINGS_PER_SECOND = 50
const AIM_GROWTH_BYTES = 200 * MEGABYTE
/** A request that is three times as slow is not noticed while it stays below this. */
const AIM_P99_MS = 30
const SETTLE_MS = 3000
/** Longest time that embeddings are sent beside edits: their end is the edits'. */
const MAX_SECONDS = 3600
/** How long their last answers are waited for. */
const PATIENCE_MS = 60_000

/** What went through the gateway, and the same to the upstream directly: their slowdown is the machine's part. */
type Steadied = readonly [gateway: readonly SentRequest[], direct: readonly SentRequest[]]

/** How long the gateway may take to see that its upstreams are gone. */
const HANDLES_MS = 10_000
/** The probe, and a caller that is about to go. */
const CONNECTIONS_SLACK = 2

await using place = new Workplace('edits')
const { folder } = place
const stage = await startStage(
  folder,
  options.flags.split(' ').filter((flag) => flag !== ''),
)
const report = new Report()
const started = stage.watch.handles()
await warmUp(stage)
const restBytes = stage.watch.residentBytes()
const before = { restBytes, started, atRest: stage.watch.handles() }
if (options.parts.includes('A')) await measureMany(stage, restBytes, report)
if (options.parts.includes('B')) await measureLargest(stage, restBytes, report)
const areBombsKept =
  !options.parts.includes('C') || (await measureBombs(stage, { rounds: size.bombRounds, areTimed: !isQuick }))
await measureRest(stage, before, report)
if (!report.isKept || !areBombsKept) process.exitCode = 1

/** The first edits and embeddings also compile the code, and let the heap find its size. */
async function warmUp(stage: Stage): Promise<void> {
  const embeddings = startEmbeddings(stage)
  for (let round = 0; round < 2; round += 1)
    await startSenders(stage, { edits: 4, pictureBytes: 10 * MEGABYTE, bytesPerSecond: 0 }).answer
  await wait(SETTLE_MS)
  embeddings.end()
  await embeddings.answer
  await wait(SETTLE_MS)
}

/** A. */
async function measureMany(stage: Stage, restBytes: number, report: Report): Promise<void> {
  const idling = startEmbeddings(stage)
  await wait(size.idleSeconds * 1000)
  idling.end()
  const idle = await idling.answer
  const embeddings = startEmbeddings(stage)
  const measured = await measure(stage, () => startSenders(stage, {}).answer)
  embeddings.end()
  const during = await embeddings.answer
  const { sent } = measured
  const allBytes = size.edits * pictureBytes
  reportSent(stage, sent, report)
  report.figure('in, MB/s', (allBytes / MEGABYTE / sent.inSeconds).toFixed(0))
  report.figure('out, MB/s, after the last byte in', (allBytes / MEGABYTE / sent.outSeconds).toFixed(0))
  reportMemory(measured, restBytes, report)
  report.figure('longest round, CPU ms', measured.longestRoundMs.toFixed(1))
  report.figure('CPU s, all threads', (measured.cpuMs / 1000).toFixed(1))
  reportEmbeddings(idle, during, sent.allInAtMs, report)
  report.print(
    `A. ${size.edits} edits at once of ${size.megabytes} MB each, sent at ${BYTES_PER_SECOND / MEGABYTE} MB/s together, beside ${EMBEDDINGS_PER_SECOND} embeddings a second`,
  )
}

function reportEmbeddings(idle: Steadied, during: Steadied, allInAtMs: number, report: Report): void {
  const [[idleGateway, idleDirect], [gateway, direct]] = [idle, during]
  const idleMs = latencyMs(idleGateway, 0.99)
  const duringMs = latencyMs(gateway, 0.99)
  const aimMs = Math.max(3 * idleMs, AIM_P99_MS)
  report.figure('embeddings idle, p50 / p99 ms', latencyText(idleGateway))
  report.figure('embeddings during, p50 / p99 ms', latencyText(gateway))
  const isMet = isQuick ? undefined : duringMs <= aimMs
  report.aim('embeddings during, p99 ms', duringMs.toFixed(1), `≤ ${aimMs.toFixed(1)}`, isMet)
  const [wayIn, wayOut] = [
    gateway.filter(([atMs]) => atMs < allInAtMs),
    gateway.filter(([atMs]) => atMs >= allInAtMs),
  ]
  report.figure('… while pictures come in', latencyText(wayIn))
  report.figure('… while they go out', latencyText(wayOut))
  report.figure('without the gateway, idle', latencyText(idleDirect))
  report.figure('without the gateway, during', latencyText(direct))
  const all = [...idleGateway, ...gateway]
  const failed = all.length - answered(all).length
  report.aim('embeddings failed', `${failed} of ${all.length}`, '0', failed === 0)
}

/** B. */
async function measureLargest(stage: Stage, restBytes: number, report: Report): Promise<void> {
  const largest = { edits: 1, picturesEach: size.pictures, bytesPerSecond: 0 }
  const measured = await measure(stage, () => startSenders(stage, largest).answer)
  const { sent } = measured
  const megabytes = size.pictures * size.megabytes
  reportSent(stage, sent, report)
  report.figure('in, MB/s', (megabytes / sent.inSeconds).toFixed(0))
  report.figure('out, MB/s, after the last byte in', (megabytes / sent.outSeconds).toFixed(0))
  reportMemory(measured, restBytes, report)
  report.figure('longest round, CPU ms', measured.longestRoundMs.toFixed(1))
  report.print(`B. One edit of ${size.pictures} pictures of ${size.megabytes} MB`)
}

interface Before {
  readonly restBytes: number
  /** Without a connection, but the listeners. */
  readonly started: Handles
  readonly atRest: Handles
}

async function measureRest(
  stage: Stage,
  { restBytes, started, atRest }: Before,
  report: Report,
): Promise<void> {
  const { watch } = stage
  await stage.stopUpstreams()
  const mostConnections = started.connections + CONNECTIONS_SLACK
  const startedMs = performance.now()
  while (watch.handles().connections > mostConnections && performance.now() - startedMs < HANDLES_MS)
    await wait(100)
  const { connections, others } = watch.handles()
  report.aim(
    'open connections, at the start → after',
    `${started.connections} → ${connections}`,
    `≤ ${mostConnections}`,
    connections <= mostConnections,
  )
  report.aim(
    'other handles, before → after',
    `${atRest.others} → ${others}`,
    `≤ ${atRest.others}`,
    others <= atRest.others,
  )
  report.figure(
    'memory, MB, before → after',
    `${megabytesText(restBytes)} → ${megabytesText(watch.residentBytes())}`,
  )
  report.print('At the end')
}

interface Measured {
  readonly sent: Sent
  readonly peakBytes: number
  readonly heapBytes: number
  readonly bufferBytes: number
  readonly longestRoundMs: number
  readonly cpuMs: number
}

async function measure({ watch }: Stage, work: () => Promise<Sent>): Promise<Measured> {
  const before = await watch.probe()
  watch.resetPeak()
  let [heapBytes, bufferBytes, longestRoundMs, cpuMs] = [0, 0, 0, 0]
  const look = async (): Promise<void> => {
    const probed = await watch.probe()
    heapBytes = Math.max(heapBytes, probed.heapBytes)
    bufferBytes = Math.max(bufferBytes, probed.bufferBytes)
    longestRoundMs = Math.max(longestRoundMs, probed.longestRoundMs)
    cpuMs = probed.cpuMs - before.cpuMs
  }
  const watching = setInterval(() => void look(), 250)
  const sent = await work()
  clearInterval(watching)
  await look()
  return { sent, peakBytes: watch.peakBytes(), heapBytes, bufferBytes, longestRoundMs, cpuMs }
}

function reportSent(stage: Stage, { edits }: Sent, report: Report): void {
  const count = String(edits.length)
  const answered = edits.filter(({ status }) => status === 200).length
  report.aim('answers 200', String(answered), count, answered === edits.length)
  for (const { status, error } of edits.filter(({ error: words }) => words !== '').slice(0, 3))
    report.figure('', `${status} ${error}`)
  const received = stage.received()
  const equal = edits.filter(
    ({ promptSha256, sha256s }) => received.get(promptSha256)?.join() === sha256s.join(),
  ).length
  report.aim(
    'edits whose digests at the upstream are the sender’s, in order',
    String(equal),
    count,
    equal === edits.length,
  )
  const open = stage.watch.handles().uploads + stage.watch.filesInUploads()
  report.aim('files left, open or in the folder', String(open), '0', open === 0)
}

function reportMemory(
  { peakBytes, heapBytes, bufferBytes }: Measured,
  restBytes: number,
  report: Report,
): void {
  const growthBytes = peakBytes - restBytes
  report.figure('memory, MB, at rest → most', `${megabytesText(restBytes)} → ${megabytesText(peakBytes)}`)
  report.aim(
    'memory growth, MB',
    megabytesText(growthBytes),
    `≤ ${AIM_GROWTH_BYTES / MEGABYTE}`,
    growthBytes <= AIM_GROWTH_BYTES,
  )
  report.figure(
    'of it seen: heap / buffers at most, MB',
    `${megabytesText(heapBytes)} / ${megabytesText(bufferBytes)}`,
  )
}

function startSenders({ url, key }: Stage, changes: Partial<Senders>): Script<Sent> {
  const senders: Senders = {
    url,
    key,
    model: EDITS_MODEL,
    edits: size.edits,
    picturesEach: 1,
    pictureBytes,
    bytesPerSecond: BYTES_PER_SECOND,
    ...changes,
  }
  return scriptOn(OTHER_CORE, join(import.meta.dirname, 'edit-sender.ts'), senders, LOAD_NICENESS)
}

function startEmbeddings({ url, directUrl, key }: Stage): Script<Steadied> {
  const stream = { key, model: EMBEDDINGS_MODEL, perSecond: EMBEDDINGS_PER_SECOND }
  const direct = new URL(directUrl)
  const paced: Paced = {
    port: Number(new URL(url).port),
    seconds: MAX_SECONDS,
    patienceMs: PATIENCE_MS,
    streams: [stream, { ...stream, port: Number(direct.port), path: direct.pathname }],
  }
  return scriptOn(OTHER_CORE, SENDER, paced)
}

function latencyText(sent: readonly SentRequest[]): string {
  return `${latencyMs(sent, 0.5).toFixed(1)} / ${latencyMs(sent, 0.99).toFixed(1)} (${sent.length})`
}

function megabytesText(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(0)
}
