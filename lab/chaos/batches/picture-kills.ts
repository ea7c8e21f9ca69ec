/**
 * Images of a batch under dying nodes. Every line is compared with what the provider actually sold, prompt by
 * prompt: one without a result was lost, and one that was sold twice was bought twice.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { openPostgres } from '../../../server/src/stores/postgres/database.ts'
import { rowsIn } from '../../../server/test/e2e/money/ledger-rows.ts'
import { requestLines, type BatchCaller, type ResultLine } from '../../../server/test/support/batches.ts'
import type { GatewayOptions } from '../../../server/test/support/gateway.ts'
import { servedBy, sha256, SMALL } from '../../../server/test/support/image-answers.ts'
import { eventually } from '../../../server/test/support/process.ts'
import { startStage, type KillPlan } from './stage.ts'

export interface PictureReport {
  readonly pictures: number
  /** Kills that came before the last picture was done. */
  readonly killsInProgress: number
  readonly completed: number
  /** Lines that report that their image may have been bought. */
  readonly unknown: number
  /** Lines without a result. */
  readonly lost: number
  /** Lines with two results. */
  readonly twice: number
  /** Prompts that the provider sold more than once. */
  readonly boughtTwice: number
  /** Results whose bytes the provider did not sell for their prompt. */
  readonly wrongPictures: number
  /** Images that were sold and stored, but whose line reports something else. */
  readonly paidAndNotGiven: number
  /** Calls that the provider served and the ledger lacks. */
  readonly callsMissing: number
  readonly seconds: number
}

/** Most concurrent images of a node. */
export const PICTURES_OF_A_NODE = 16
const MODEL = 'killed-image'
const ENDPOINT = '/v1/images/generations'

export async function runPicturesWithKills(plan: KillPlan): Promise<PictureReport> {
  const options: GatewayOptions = {
    images: { [MODEL]: { on: `slow-${plan.callMs}`, price: { usdPerImage: 0.04 } } },
  }
  await using stage = await startStage(plan, options)
  const { provider } = stage
  const prompts = Array.from({ length: plan.lines }, (_, index) => `a heron, number ${index}`)
  const bodies = prompts.map((prompt, index) => ({
    model: MODEL,
    prompt,
    size: SMALL,
    // Both ways to deliver an image.
    response_format: index % 2 === 0 ? 'b64_json' : 'url',
  }))
  const first = stage.caller()
  const startedMs = performance.now()
  const { id } = await first.create(await first.upload(requestLines(ENDPOINT, bodies)), {
    endpoint: ENDPOINT,
  })
  const killsInProgress = await stage.killAsPlanned(id)
  await using opened = new AsyncDisposableStack()
  const database = openPostgres(stage.databaseUrl, { poolSize: 2 })
  opened.defer(() => database.close())
  const caller = stage.caller()
  const batch = await caller.ended(id, 900_000)
  const seconds = (performance.now() - startedMs) / 1000
  assert.equal(batch.status, 'completed', JSON.stringify(batch))
  const output = await caller.lines(batch.output_file_id)
  const errors = await caller.lines(batch.error_file_id)
  const sold = new Map<string, string[]>()
  for (const { promptSha256 = '', pictures = [] } of servedBy(provider))
    sold.set(promptSha256, [...(sold.get(promptSha256) ?? []), ...pictures.map((one) => one.sha256)])
  const callsMissing = await eventually(async () => {
    const known = new Set((await rowsIn(database)).map(({ callId }) => callId))
    const missing = servedBy(provider).filter(({ callId }) => !known.has(callId ?? '')).length
    assert.equal(missing, 0)
    return missing
  }, 60_000)
  const results = new Map<string, ResultLine>([...output, ...errors].map((line) => [line.custom_id, line]))
  const digestOf = (prompt: string): string => createHash('sha256').update(prompt).digest('hex')
  let wrongPictures = 0
  for (const line of output) {
    const prompt = prompts[Number(line.custom_id.slice('line '.length))] as string
    if (!sold.get(digestOf(prompt))?.includes(await pictureIn(line, caller))) wrongPictures += 1
  }
  const unknown = errors.filter(({ response }) => response?.body.error?.code === 'outcome_unknown')
  const soldTo = (line: ResultLine): number =>
    sold.get(digestOf(prompts[Number(line.custom_id.slice('line '.length))] as string))?.length ?? 0
  return {
    pictures: plan.lines,
    killsInProgress,
    completed: batch.request_counts.completed,
    unknown: unknown.length,
    lost: plan.lines - results.size,
    twice: output.length + errors.length - results.size,
    boughtTwice: [...sold.values()].filter((pictures) => pictures.length > 1).length,
    wrongPictures,
    paidAndNotGiven: errors.filter((line) => !unknown.includes(line) && soldTo(line) > 0).length,
    callsMissing,
    seconds,
  }
}

/** Longest time that a node keeps unstored images on its own disk once the store is reachable again. */
const SPOOLED_MS = 30_000

/** Digest of its bytes. */
async function pictureIn({ response }: ResultLine, caller: BatchCaller): Promise<string> {
  const [picture] = (response?.body.data ?? []) as readonly {
    readonly b64_json?: string
    readonly url?: string
  }[]
  if (picture?.url === undefined) return sha256(Buffer.from(picture?.b64_json ?? '', 'base64'))
  // The node that made the link may be dead: any other serves it.
  const { pathname, search } = new URL(picture.url)
  const bytes = await eventually(async () => {
    const answer = await caller.fetch(pathname.slice('/v1'.length) + search)
    assert.equal(answer.status, 200)
    return answer.arrayBuffer()
  }, SPOOLED_MS).catch(() => new ArrayBuffer())
  return sha256(Buffer.from(bytes))
}
