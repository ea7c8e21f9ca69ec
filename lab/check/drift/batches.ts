/** Batches whose upstream changes at a random moment of theirs: no vector of the new space may be in what they made. */
import { setTimeout as wait } from 'node:timers/promises'
import { BatchCaller, embeddingLines, type BatchAnswer } from '../../../server/test/support/batches.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { base64Of, vectorOf } from '../../fake-provider/vectors.ts'
import { median, type Report } from '../../report.ts'
import type { Workplace } from '../../workplace.ts'
import { KEY, startNode, WIDTH } from './node.ts'
import { changedVector } from './run.ts'

/**
 * The upstream's answers are slow, so that a batch lasts for some calls. `large`: it changes in calls with as many inputs as a batch's
 * have, and in no others.
 */
const KINDS = { whole: undefined, large: 'drifts-from-16' } as const
type Kind = keyof typeof KINDS

const LINES = 1500
const ANSWER_MS = 150
const AT_ONCE = 4
const LOOK_MS = 50
/** A batch that drops lines makes them again at once. */
const ENDED_MS = 120_000

interface BatchFigures {
  readonly kind: Kind
  readonly status: string
  readonly wrong: number
  readonly dropped: number
  readonly missing: number
}

export async function measureBatches(runs: number, place: Workplace, report: Report): Promise<string[][]> {
  const provider = await startFakeProvider()
  const database = await place.postgres()
  const modes = (Object.keys(KINDS) as Kind[]).flatMap((kind) =>
    Array.from({ length: runs }, (_, run) => ({ kind, name: `batch-${kind}-${run}` })),
  )
  const upstreamOf = (mode: string): object => ({
    dialect: 'openai',
    baseUrl: `${provider.url}/slow-${ANSWER_MS}+mode-${mode}/v1`,
    apiKey: 'sk-upstream-0123456789',
  })
  const torana = await startNode({
    place,
    name: 'batches',
    databaseUrl: database.url,
    upstreams: Object.fromEntries(
      modes.flatMap(({ name }) => [name, `${name}-healthy`]).map((mode) => [mode, upstreamOf(mode)]),
    ),
    models: Object.fromEntries(
      modes.map(({ name }) => [
        name,
        {
          kind: 'embedding',
          embedding: { dimensions: WIDTH },
          price: { usdPerMillionTokens: 0.02 },
          deployments: [name, `${name}-healthy`].map((upstream, priority) => ({
            upstream,
            model: `embed-w${WIDTH}`,
            priority,
            limits: { concurrency: 2 },
          })),
        },
      ]),
    ),
  })
  const caller = new BatchCaller(torana.url, KEY)
  const figures: BatchFigures[] = []
  const left = [...modes]
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { kind, name } = next
      const change = { vectors: 'other-model', traits: KINDS[kind] ?? null }
      figures.push(await oneBatch(kind, name, caller, () => provider.setMode(name, change)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  await torana.stop()
  await provider.close()
  const tables = (Object.keys(KINDS) as Kind[]).map((kind) => {
    const own = figures.filter((one) => one.kind === kind)
    const [wrong, missing] = [sum(own, (one) => one.wrong), sum(own, (one) => one.missing)]
    const ended = own.filter(({ status }) => status === 'completed').length
    report.aim(`batches, ${kind}: vectors of the new space in their output`, String(wrong), '0', wrong === 0)
    report.aim(`batches, ${kind}: lines without a result`, String(missing), '0', missing === 0)
    report.aim(`batches, ${kind}: completed`, `${ended} of ${own.length}`, 'all', ended === own.length)
    const dropped = own.map((one) => one.dropped)
    return [
      kind,
      String(own.length),
      String(own.length * LINES),
      String(wrong),
      `${median(dropped)}, ${Math.max(...dropped)}`,
    ]
  })
  return [
    ['change', 'batches', 'lines', 'wrong vectors in outputs', 'lines made again: median, worst'],
    ...tables,
  ]
}

/** The change comes when a random part of its lines is done, up to all but the last. */
async function oneBatch(
  kind: Kind,
  model: string,
  caller: BatchCaller,
  change: () => Promise<unknown>,
): Promise<BatchFigures> {
  const texts = Array.from({ length: LINES }, (_, line) => `${model} ${line} of a batch`)
  const { id } = await caller.create(await caller.upload(embeddingLines(model, texts)))
  const changeAt = Math.floor(Math.random() * LINES)
  let isChanged = false
  const untilMs = performance.now() + ENDED_MS
  let batch: BatchAnswer = await caller.get(id)
  for (; batch.status === 'in_progress' && performance.now() < untilMs; batch = await caller.get(id)) {
    if (!isChanged && batch.request_counts.completed >= changeAt) {
      isChanged = true
      await change()
    }
    await wait(LOOK_MS)
  }
  const lines = await caller.lines(batch.output_file_id)
  let [wrong, right] = [0, 0]
  for (const { custom_id: line, response } of lines) {
    const text = texts[Number(line.slice('line '.length))] ?? ''
    const embedding = response?.body.data[0]?.embedding
    if (embedding === base64Of(vectorOf(text, WIDTH))) right += 1
    else if (embedding === base64Of(changedVector(text))) wrong += 1
  }
  return {
    kind,
    status: batch.status,
    wrong,
    dropped: batch.torana.dropped_lines,
    missing: LINES - wrong - right,
  }
}

function sum(all: readonly BatchFigures[], of: (one: BatchFigures) => number): number {
  return all.reduce((total, one) => total + of(one), 0)
}
