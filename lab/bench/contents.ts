/**
 * One node in 2 GB of memory, and many callers at once with a large image each, beside callers with texts: what is answered, what is
 * refused, how much memory the node takes, and how long texts take. The upstreams, the node and the callers are separate processes.
 * Exits with 1 when a goal is missed. `npm run lab -- bench/contents`, and `--quick` for a short run without goals of time. The limit
 * of memory needs root; without, only the node's own figure counts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ImageAnswer, ImageCallers } from './contents-sender.ts'
import { inControlGroup, memoryOf } from './control-group.ts'
import { LOAD_NICENESS, MEGABYTE, OTHER_CORE } from './edit-stage.ts'
import { startWatched, type GatewayWatch } from './gateway-watch.ts'
import { answered, latencyMs } from './load-stage.ts'
import { scriptOn, type Script } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { Report } from '../report.ts'
import { SENDER, type Paced, type SentRequest } from '../sender.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    /** Options of Node for the node, to compare: `--flags='--cpu-prof'`. */
    flags: { type: 'string', default: '' },
  },
})
const isQuick = options.quick
const FULL = { callers: 100, megabytes: 20, idleSeconds: 20 }
const QUICK = { callers: 12, megabytes: 10, idleSeconds: 3 }
const size = isQuick ? QUICK : FULL

const GROUP_BYTES = 2 * 1024 * MEGABYTE
const AIM_BYTES = 1.2 * 1024 * MEGABYTE
const AIM_RATIO = 1.5
/** Refusals that the documentation names for a node without room: the caller tries again. */
const DOCUMENTED: ReadonlySet<string> = new Set(['too_many_bodies', 'node_overloaded', 'deployments_busy'])
const TEXTS_PER_SECOND = 50
/** On one core alone its threads would compete with it. */
const NODE_CORES = '0,1'
const MAX_SECONDS = 3600
const PATIENCE_MS = 60_000
const SETTLE_MS = 3000
const KEY = `contents-${'0123456789abcdef'.repeat(2)}`
const IMAGES = 'images-w16'
const TEXTS = 'texts-w256'

type Steadied = readonly [gateway: readonly SentRequest[], direct: readonly SentRequest[]]

interface Stage {
  readonly origin: string
  readonly watch: GatewayWatch
  readonly directUrl: string
  readonly log: string
}

await using place = new Workplace('contents')
const { stage, leave } = await startStage(place.folder)
const report = new Report()
await warmUp()
const restBytes = stage.watch.residentBytes()
const texts = startTexts()
await wait(size.idleSeconds * 1000)
texts.end()
const idle = await texts.answer
stage.watch.resetPeak()
await stage.watch.probe()
const beside = startTexts()
const startedMs = performance.now()
const answers = await startImages({}).answer
const tookSeconds = (performance.now() - startedMs) / 1000
beside.end()
const during = await beside.answer
const { longestRoundMs } = await stage.watch.probe()
await wait(SETTLE_MS)
reportAnswers()
reportMemory()
reportTexts()
report.print(
  `${size.callers} callers at once with an image of ${size.megabytes} MB each, beside ${TEXTS_PER_SECOND} texts a second, in ${GROUP_BYTES / MEGABYTE} MB`,
)
leave[Symbol.dispose]()
if (!report.isKept) process.exitCode = 1

async function startStage(folder: string): Promise<{ stage: Stage; leave: Disposable }> {
  const [images, plain] = [
    await startProvider(OTHER_CORE, folder, LOAD_NICENESS),
    await startProvider(OTHER_CORE, folder),
  ]
  const directUrl = `${plain.origin}/plain`
  const contents = { wire: 'messages', inputs: ['text', 'image'], fuses: true }
  const model = { kind: 'embedding', price: 'free', spaceGuard: false }
  const { pid, origin, watch } = await startWatched({
    core: NODE_CORES,
    folder,
    config: {
      upstreams: {
        images: {
          dialect: 'openai',
          baseUrl: `${images.origin}/plain/vllm/v1`,
          apiKey: 'sk-upstream-0123456789',
        },
        texts: { dialect: 'openai', baseUrl: `${directUrl}/v1`, apiKey: 'sk-upstream-0123456789' },
      },
      models: {
        [IMAGES]: {
          ...model,
          embedding: { dimensions: 16 },
          deployments: [{ upstream: 'images', capabilities: { contents } }],
        },
        [TEXTS]: {
          ...model,
          embedding: { dimensions: 256 },
          deployments: [{ upstream: 'texts', capabilities: { encodings: ['base64'] } }],
        },
      },
    },
    flags: options.flags.split(' ').filter((flag) => flag !== ''),
    env: { TORANA_BOOTSTRAP_KEY: KEY },
  })
  const stage = { origin, watch, directUrl, log: images.log }
  return { stage, leave: inControlGroup(pid, memoryOf(GROUP_BYTES)) }
}

/** The first requests also compile the code, and let the heap find its size. */
async function warmUp(): Promise<void> {
  const running = startTexts()
  await startImages({ callers: 4 }).answer
  running.end()
  await running.answer
  await wait(SETTLE_MS)
}

function startImages(changes: Partial<ImageCallers>): Script<readonly ImageAnswer[]> {
  const imageBytes = size.megabytes * MEGABYTE
  const callers = {
    url: stage.origin,
    key: KEY,
    model: IMAGES,
    callers: size.callers,
    imageBytes,
    ...changes,
  }
  return scriptOn(OTHER_CORE, join(import.meta.dirname, 'contents-sender.ts'), callers, LOAD_NICENESS)
}

function startTexts(): Script<Steadied> {
  const stream = { key: KEY, model: TEXTS, perSecond: TEXTS_PER_SECOND }
  const direct = new URL(stage.directUrl)
  const paced: Paced = {
    port: Number(new URL(stage.origin).port),
    seconds: MAX_SECONDS,
    patienceMs: PATIENCE_MS,
    streams: [stream, { ...stream, port: Number(direct.port), path: direct.pathname }],
  }
  return scriptOn(OTHER_CORE, SENDER, paced)
}

function reportAnswers(): void {
  const answeredImages = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(
    ({ status, code, saysWhen }) => status === 503 && saysWhen && DOCUMENTED.has(code),
  )
  const counts = Map.groupBy(answers, ({ status, code }) => `${status} ${code}`.trim())
  report.figure('answers', [...counts].map(([what, { length }]) => `${length} × ${what}`).join(', '))
  const others = answers.length - answeredImages.length - refused.length
  report.aim('neither answered nor refused as documented', String(others), '0', others === 0)
  const received = new Set(readFileSync(stage.log, 'utf8').match(/"sha256":"[0-9a-f]{64}"/g))
  const equal = answeredImages.filter(({ sha256 }) => received.has(`"sha256":"${sha256}"`)).length
  report.aim(
    'answered images whose digest at the upstream is the sender’s',
    String(equal),
    String(answeredImages.length),
    equal === answeredImages.length,
  )
  report.figure('seconds in all', tookSeconds.toFixed(1))
  const open = stage.watch.handles().uploads + stage.watch.filesInUploads()
  report.aim('files left, open or in the folder', String(open), '0', open === 0)
}

function reportMemory(): void {
  const peakBytes = stage.watch.peakBytes()
  report.figure('memory at rest, MB', (restBytes / MEGABYTE).toFixed(0))
  report.aim(
    'memory at most, MB',
    (peakBytes / MEGABYTE).toFixed(0),
    `≤ ${(AIM_BYTES / MEGABYTE).toFixed(0)}`,
    peakBytes <= AIM_BYTES,
  )
}

function reportTexts(): void {
  const [[idleNode, idleDirect], [node, direct]] = [idle, during]
  report.figure('texts alone, p50 / p99 ms', latencyText(idleNode))
  report.figure('texts beside images, p50 / p99 ms', latencyText(node))
  const ratio = latencyMs(node, 0.99) / latencyMs(idleNode, 0.99)
  report.aim(
    'p99 of texts beside images, times that alone',
    ratio.toFixed(2),
    `≤ ${AIM_RATIO}`,
    isQuick ? undefined : ratio <= AIM_RATIO,
  )
  report.figure('longest round of the event loop, CPU ms', longestRoundMs.toFixed(1))
  report.figure('without the node: alone', latencyText(idleDirect))
  report.figure('without the node: beside images', latencyText(direct))
  const all = [...idleNode, ...node]
  const failed = all.length - answered(all).length
  report.aim('texts failed', `${failed} of ${all.length}`, '0', failed === 0)
}

function latencyText(sent: readonly SentRequest[]): string {
  return `${latencyMs(sent, 0.5).toFixed(1)} / ${latencyMs(sent, 0.99).toFixed(1)} (${sent.length})`
}
