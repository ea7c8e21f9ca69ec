/** A node with PostgreSQL in front of a separate upstream, and a caller that runs files of lines there. */
import { createWriteStream, openAsBlob, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { testPostgres } from '../../server/test/support/servers.ts'
import { cpuMicroseconds, type Started } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { startTorana, storeKeys, type StartedTorana } from './torana.ts'
import { fixedPath, type FixedCounters, type FixedPlan } from '../fake-provider/players/fixed.ts'

export const NODE_CORE = 0
export const UPSTREAM_CORE = 1
export const MODEL = 'bench'
export const KEY = `batches-${'0123456789abcdef'.repeat(2)}`

export interface BatchStage {
  readonly torana: StartedTorana
  readonly folder: string
}

export interface BatchOutcome {
  readonly seconds: number
  /** Of the node, from the creation of the batch to its end. */
  readonly cpuSeconds: number
  /** Of the node's memory, one figure for each tenth of the lines. */
  readonly residentMb: readonly number[]
}

interface SeenBatch {
  readonly id: string
  readonly status: string
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number }
}

const LOOK_MS = 200
const MEGABYTE = 1024 * 1024

/** Its address has a path. */
export async function startUpstream(plan: FixedPlan, folder: string): Promise<Started> {
  const { pid, origin } = await startProvider(UPSTREAM_CORE, folder)
  return { pid, origin: `${origin}/${fixedPath(plan)}` }
}

/** The upstream's counters since the last call. */
export async function countersOf({ origin }: Pick<Started, 'origin'>): Promise<{
  readonly several: FixedCounters
  readonly single: FixedCounters
}> {
  return (await (await fetch(`${origin}/counters`)).json()) as {
    several: FixedCounters
    single: FixedCounters
  }
}

export interface StageOptions {
  readonly folder: string
  /** With its path. */
  readonly baseUrl: string
  readonly upstreamModel?: string
  readonly width: number
  /** Calls that the upstream is known to serve in parallel. */
  readonly maxConcurrent?: number | undefined
  readonly flags?: readonly string[]
  readonly program?: string | undefined
}

export async function startStage(options: StageOptions): Promise<BatchStage> {
  const { folder, baseUrl, width, upstreamModel = 'bench', maxConcurrent, flags = [], program } = options
  const { url } = await testPostgres()
  const deployment = {
    upstream: 'bench',
    model: upstreamModel,
    capabilities: { encodings: ['base64'] },
    ...(maxConcurrent !== undefined && { limits: { concurrency: maxConcurrent } }),
  }
  const torana = await startTorana({
    core: NODE_CORE,
    folder,
    flags,
    program,
    config: {
      upstreams: { bench: { dialect: 'openai', baseUrl } },
      models: {
        [MODEL]: {
          kind: 'embedding',
          embedding: { dimensions: width },
          price: { usdPerMillionTokens: 1 },
          // A probe in the middle of a measurement would be part of it.
          spaceGuard: false,
          deployments: [deployment],
        },
      },
    },
    env: {
      DATABASE_URL: url,
      TORANA_SECRET: 'the secret of the benches',
      ASSETS_URL: `file://${join(folder, 'blobs')}`,
    },
  })
  await storeKeys(torana, [{ name: 'bench', secret: KEY }])
  return { torana, folder }
}

/** A file of lines with texts that all differ. */
export async function writeLines(
  folder: string,
  lines: number,
  textOf: (line: number) => string,
): Promise<string> {
  const path = join(folder, `lines-${lines}.jsonl`)
  const stream = createWriteStream(path)
  for (let first = 0; first < lines; first += 10_000) {
    let some = ''
    for (let line = first; line < Math.min(lines, first + 10_000); line += 1)
      some += `${JSON.stringify({ custom_id: `line ${line}`, method: 'POST', url: '/v1/embeddings', body: { model: MODEL, input: textOf(line), encoding_format: 'base64' } })}\n`
    if (!stream.write(some)) await once(stream, 'drain')
  }
  stream.end()
  await once(stream, 'close')
  return path
}

/** The id of the file. */
export async function upload({ torana }: BatchStage, path: string): Promise<string> {
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', await openAsBlob(path), 'lines.jsonl')
  return (await asked<{ id: string }>(torana, '/files', { method: 'POST', body: form })).id
}

export async function create({ torana }: BatchStage, fileId: string): Promise<SeenBatch> {
  return asked<SeenBatch>(torana, '/batches', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      input_file_id: fileId,
      endpoint: '/v1/embeddings',
      completion_window: '24h',
      metadata: { at: String(performance.now()) },
    }),
  })
}

/** The number of its lines that are done. Throws when the batch has ended unexpectedly. */
export async function doneOf(
  { torana }: BatchStage,
  id: string,
): Promise<{ done: number; isEnded: boolean }> {
  const batch = await asked<SeenBatch>(torana, `/batches/${id}`)
  const { completed, failed } = batch.request_counts
  if (failed > 0 || !['in_progress', 'completed'].includes(batch.status))
    throw new Error(`the batch is ${batch.status}: ${JSON.stringify(batch)}`)
  return { done: completed, isEnded: batch.status === 'completed' }
}

/** Runs several batches of the same file in parallel, to their ends. */
export async function runBatches(stage: BatchStage, fileId: string, count = 1): Promise<BatchOutcome> {
  const { pid } = stage.torana
  const [cpuBefore, startedMs] = [cpuMicroseconds(pid), performance.now()]
  const batches = await Promise.all(Array.from({ length: count }, () => create(stage, fileId)))
  const total = batches.reduce((sum, { request_counts }) => sum + request_counts.total, 0)
  const samples: { readonly done: number; readonly mb: number }[] = []
  for (;;) {
    const seen = await Promise.all(batches.map(({ id }) => doneOf(stage, id)))
    samples.push({ done: seen.reduce((sum, { done }) => sum + done, 0), mb: residentBytes(pid) / MEGABYTE })
    if (seen.every(({ isEnded }) => isEnded)) break
    await wait(LOOK_MS)
  }
  return {
    seconds: (performance.now() - startedMs) / 1000,
    cpuSeconds: (cpuMicroseconds(pid) - cpuBefore) / 1e6,
    residentMb: tenths(samples, total),
  }
}

/** The most memory that was seen while each tenth was done. */
function tenths(
  samples: readonly { readonly done: number; readonly mb: number }[],
  total: number,
): readonly number[] {
  return Array.from({ length: 10 }, (_, tenth) => {
    const within = samples.filter(
      ({ done }) => Math.min(9, Math.floor((done / Math.max(1, total)) * 10)) === tenth,
    )
    return Math.max(0, ...within.map(({ mb }) => mb))
  }).filter((mb) => mb > 0)
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

async function asked<Answer>(
  { origin }: Pick<StartedTorana, 'origin'>,
  path: string,
  init: RequestInit = {},
): Promise<Answer> {
  const headers = { authorization: `Bearer ${KEY}`, ...(init.headers as Record<string, string>) }
  const answer = await fetch(`${origin}/v1${path}`, { ...init, headers })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as Answer
}
