/**
 * Batches under dying nodes. Now and then one of several nodes is killed with -9 and started again, and at
 * the end every line is compared with what the provider actually served, and with the ledger.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { nanoUsdOf } from '../../../server/src/core/money/price.ts'
import { openPostgres, type Database } from '../../../server/src/stores/postgres/database.ts'
import { rowsIn } from '../../../server/test/e2e/money/ledger-rows.ts'
import { bitsOf } from '../../../server/test/support/arbitraries.ts'
import {
  requestLines,
  type BatchAnswer,
  type BatchCaller,
  type ResultLine,
} from '../../../server/test/support/batches.ts'
import type { GatewayOptions } from '../../../server/test/support/gateway.ts'
import { eventually } from '../../../server/test/support/process.ts'
import { contentVector } from '../../fake-provider/contents.ts'
import type { LogEntry } from '../../fake-provider/log.ts'
import { fromBase64 } from '../../fake-provider/vectors.ts'
import { startStage, type KillPlan } from './stage.ts'

export interface KillReport {
  readonly lines: number
  /** Kills that came before the last line was done. */
  readonly killsInProgress: number
  readonly completed: number
  readonly lost: number
  readonly twice: number
  readonly wrongVectors: number
  readonly callsServed: number
  readonly callsPosted: number
  readonly callsUnknown: number
  /** Calls that the provider served and the ledger lacks. */
  readonly callsMissing: number
  /** Calls that the ledger has more than once. */
  readonly callsDoubled: number
  /** Images of lines that the provider did not get byte by byte, and those that it got more than once, because of a kill. */
  readonly imagesMissing: number
  readonly imagesRepeated: number
  /** The cost according to the batch, and according to the ledger, in nano-dollars. */
  readonly batchNanoUsd: bigint
  readonly ledgerNanoUsd: bigint
  /** The same for calls whose outcome is unknown. */
  readonly batchUnknownNanoUsd: bigint
  readonly ledgerUnknownNanoUsd: bigint
  readonly seconds: number
}

/** Alternating in the lines, so that chunks end with gaps when a node stops or dies. */
const MODELS = ['killed-w8', 'killed-too-w8'] as const
/** Most concurrent calls of a node: of 48 chunks, and 16 more. */
export const CALLS_OF_A_NODE = 64
const READS_IMAGES = {
  upstream: { base: 'openrouter/api/v1' },
  embedding: { maxInputTokens: 2048, mediaTokens: { maxPerImage: 258 } },
  capabilities: {
    contents: { wire: 'openrouter', inputs: ['text', 'image'], fuses: true, maxParts: 2, maxImages: 32 },
  },
}
/** The beginning of every image: a PNG of one pixel. The number of its line follows, again and again. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
/** Bytes behind it: every hundredth image is kept on disk. */
const PADDING_BYTES = { usual: 6000, onDisk: 300_000 }

/** What a line holds: a text, or an image, some of them with words. */
function partsOf(line: number, hasImages: boolean): readonly [string | Buffer, ...(string | Buffer)[]] {
  const text = `text ${line}`
  if (!hasImages) return [text]
  const padding = line % 100 === 0 ? PADDING_BYTES.onDisk : PADDING_BYTES.usual
  const image = Buffer.concat([PIXEL, Buffer.alloc(padding, `${text} `)])
  return line % 3 === 0 ? [text, image] : [image]
}

function written(part: string | Buffer): object {
  return typeof part === 'string'
    ? { type: 'text', text: part }
    : { type: 'image_url', image_url: { url: `data:image/png;base64,${part.toString('base64')}` } }
}

/** The provider's log against the images of the lines, by their hashes. */
function comparedMedia(
  served: readonly LogEntry[],
  { lines, hasImages = false }: KillPlan,
): Pick<KillReport, 'imagesMissing' | 'imagesRepeated'> {
  if (!hasImages) return { imagesMissing: 0, imagesRepeated: 0 }
  const times = new Map<string, number>()
  for (const { contents = [] } of served)
    for (const part of contents.flat())
      if (part.kind === 'image' && 'sha256' in part) times.set(part.sha256, (times.get(part.sha256) ?? 0) + 1)
  let imagesMissing = 0
  for (let line = 0; line < lines; line += 1) {
    const image = partsOf(line, true).at(-1) as Buffer
    if (!times.has(createHash('sha256').update(image).digest('hex'))) imagesMissing += 1
  }
  return { imagesMissing, imagesRepeated: [...times.values()].filter((count) => count > 1).length }
}

/** Time after the last kill. */
const END_MS = 3_000_000

export async function runWithKills(plan: KillPlan): Promise<KillReport> {
  const { hasImages = false } = plan
  const options: GatewayOptions = {
    models: Object.fromEntries(
      MODELS.map((model) => [
        model,
        { on: `slow-${plan.callMs}`, price: { usdPerMillionTokens: 1.37 }, ...(hasImages && READS_IMAGES) },
      ]),
    ),
  }
  await using stage = await startStage(plan, options)
  const first = stage.caller()
  const startedMs = performance.now()
  const bodies = Array.from({ length: plan.lines }, (_, line) => {
    const model = MODELS[line % MODELS.length]
    const parts = partsOf(line, hasImages)
    return {
      model,
      input: hasImages ? [{ content: parts.map(written) }] : parts[0],
      encoding_format: 'base64',
    }
  })
  const { id } = await first.create(await first.upload(requestLines('/v1/embeddings', bodies)))
  const killsInProgress = await stage.killAsPlanned(id)
  const caller = stage.caller()
  const batch = await caller.ended(id, END_MS)
  const seconds = (performance.now() - startedMs) / 1000
  assert.equal(batch.status, 'completed', JSON.stringify(batch))
  const vectors = await comparedVectors(caller, batch, plan)
  await using opened = new AsyncDisposableStack()
  const database = openPostgres(stage.databaseUrl, { poolSize: 2 })
  opened.defer(() => database.close())
  const calls = await eventually(async () => {
    const rows = await rowsIn(database)
    const known = new Set(rows.map(({ callId }) => callId))
    const isOurs = ({ model }: { readonly model: string | null }): boolean =>
      MODELS.some((one) => one === model)
    const served = stage.provider.entries().filter((entry) => entry.served && isOurs(entry))
    const callsMissing = served.filter(({ callId }) => !known.has(callId ?? '')).length
    assert.equal(callsMissing, 0)
    const posted = rows.filter(({ kind }) => kind === 'post')
    return {
      callsServed: served.length,
      callsPosted: posted.length,
      callsUnknown: rows.filter(({ kind }) => kind === 'unknown').length,
      callsMissing,
      callsDoubled: posted.length - new Set(posted.map(({ callId }) => callId)).size,
      ...comparedMedia(served, plan),
    }
  }, 30_000)
  const money = await comparedMoney(await caller.get(id), database)
  const { completed } = batch.request_counts
  return { lines: plan.lines, killsInProgress, completed, ...vectors, ...calls, ...money, seconds }
}

/** The ledger of all calls, whichever batch they name: nothing else asked for these models. */
async function comparedMoney(
  { torana }: BatchAnswer,
  database: Database,
): Promise<Pick<KillReport, `${'batch' | 'ledger'}${'' | 'Unknown'}NanoUsd`>> {
  const [ledger] = await database.query<{ nano: bigint; unknown: bigint }>(
    `SELECT coalesce(sum(amount_nano), 0)::bigint AS nano, coalesce(sum(unknown_nano), 0)::bigint AS unknown
     FROM usage_events WHERE model = ANY ($1::text[]) AND project <> 'system'`,
    [[...MODELS]],
  )
  assert.ok(ledger)
  return {
    batchNanoUsd: nanoUsdOf(torana.cost_usd),
    ledgerNanoUsd: ledger.nano,
    batchUnknownNanoUsd: nanoUsdOf(torana.unknown_cost_usd),
    ledgerUnknownNanoUsd: ledger.unknown,
  }
}

async function comparedVectors(
  caller: BatchCaller,
  batch: BatchAnswer,
  { lines, hasImages = false }: KillPlan,
): Promise<Pick<KillReport, 'lost' | 'twice' | 'wrongVectors'>> {
  const seen = new Set<string>()
  let twice = 0
  let wrongVectors = 0
  for await (const { custom_id, response } of linesOf(caller, batch.output_file_id)) {
    if (seen.has(custom_id)) twice += 1
    seen.add(custom_id)
    const parts = partsOf(Number(custom_id.slice('line '.length)), hasImages)
    const vector = fromBase64(response?.body.data[0]?.embedding ?? '')
    const expected = bitsOf(contentVector(parts, 8))
    if (!bitsOf(vector).every((bit, index) => bit === expected[index])) wrongVectors += 1
  }
  for await (const { custom_id } of linesOf(caller, batch.error_file_id)) {
    if (seen.has(custom_id)) twice += 1
    seen.add(custom_id)
  }
  return { lost: lines - seen.size, twice, wrongVectors }
}

/** One at a time: a million of them are more text than a process can hold. */
async function* linesOf(caller: BatchCaller, fileId: string | null): AsyncGenerator<ResultLine> {
  if (fileId === null) return
  const answer = await caller.fetch(`/files/${fileId}/content`)
  assert.equal(answer.status, 200)
  assert.ok(answer.body)
  for await (const line of createInterface({ input: Readable.fromWeb(answer.body) }))
    if (line !== '') yield JSON.parse(line) as ResultLine
}
