/** `torana batch run`: a corpus becomes a file of vectors, whenever the command dies. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCorpus } from 'torana-bulk/open-corpus'
import { runCorpus, type CorpusRun } from 'torana-bulk/run'
import { GatewayClient } from '#cli/client/gateway-client.ts'
import { bitsOf } from '#test/support/arbitraries.ts'
import { BatchCaller } from '#test/support/batches.ts'
import { startGateway } from '#test/support/gateway.ts'
import { eventually, runTorana, temporaryFolder } from '#test/support/process.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const WIDTH = 8
const MODEL = 'plain-w8'
const SLOW = 'slow-w8'
const gateway = await startGateway({
  models: {
    [MODEL]: { on: 'plain', price: { usdPerMillionTokens: 1 } },
    [SLOW]: { on: 'slow-300', price: { usdPerMillionTokens: 1 }, deploymentLimits: { concurrency: 1 } },
  },
})
const SILENT = { stdout: { write: () => {} }, stderr: { write: () => {} } }

interface Corpus {
  readonly folder: string
  readonly texts: readonly string[]
  readonly run: CorpusRun
}

function corpusOf(name: string, count: number, rowsPerBatch: number): Corpus {
  const folder = temporaryFolder()
  const texts = Array.from({ length: count }, (_, row) => `${name} ${row}`)
  const lines = texts.map((text, row) => JSON.stringify({ id: `doc ${row}`, text }))
  writeFileSync(join(folder, 'corpus.jsonl'), lines.join('\n'))
  return {
    folder,
    texts,
    run: {
      corpus: join(folder, 'corpus.jsonl'),
      out: join(folder, 'vectors.npy'),
      ending: '.npy',
      type: 'float32',
      model: MODEL,
      dimensions: undefined,
      columns: { text: undefined, id: undefined },
      windowHours: 24,
      rowsPerBatch,
    },
  }
}

/** Texts that the provider has made vectors of, each as often as it was paid. */
function boughtInputs(model: string): number {
  return gateway.provider
    .entries()
    .filter((entry) => entry.served && entry.model === model)
    .reduce((sum, { inputs }) => sum + inputs, 0)
}

/** A matrix without its head of 128 bytes. */
function matrixIn(file: string): Float32Array {
  const bytes = new Uint8Array(readFileSync(file)).slice(128)
  return new Float32Array(bytes.buffer)
}

function assertVectors(matrix: Float32Array, texts: readonly string[]): void {
  assert.equal(matrix.length, texts.length * WIDTH)
  for (const [row, text] of texts.entries())
    assert.deepEqual(
      bitsOf(matrix.slice(row * WIDTH, (row + 1) * WIDTH)),
      bitsOf(vectorOf(text, WIDTH)),
      `row ${row}`,
    )
}

class Death extends Error {}

/** Ends the command at its nth exchange: before it is sent, or before the answer arrives. */
class DyingClient extends GatewayClient {
  #left: number
  readonly #isHeard: boolean

  constructor(exchanges: number, isHeard: boolean) {
    super(gateway.url, gateway.key)
    this.#left = exchanges
    this.#isHeard = isHeard
  }

  override async open(path: string, init?: RequestInit): Promise<Response> {
    this.#left -= 1
    if (this.#left === 0 && this.#isHeard) await super.open(path, init)
    if (this.#left <= 0) throw new Death(path)
    return super.open(path, init)
  }
}

test('a run that dies at any exchange with the gateway goes on with the same command: every row once, nothing bought twice', async () => {
  // The first two ask for models and space. Then files are sent, batches made, and results fetched.
  const unsent = [3, 4, 8, 12].map((exchange) => ({ exchange, isHeard: false }))
  const unheard = [3, 4, 5, 6].map((exchange) => ({ exchange, isHeard: true }))
  for (const { exchange, isHeard } of [...unsent, ...unheard]) {
    const name = `dies at ${exchange}, ${isHeard ? 'answered' : 'unsent'}:`
    const { texts, run } = corpusOf(name, 10, 4)
    const boughtBefore = boughtInputs(MODEL)
    const first = runCorpus(run, new DyingClient(exchange, isHeard), SILENT)
    const died = await first.then(
      () => false,
      (error: unknown) => {
        assert.ok(error instanceof Death, String(error))
        return true
      },
    )
    const summary = await runCorpus(run, new GatewayClient(gateway.url, gateway.key), SILENT)
    assert.deepEqual([summary.vectors, summary.errors], [10, 0], `${name} ${died}`)
    assertVectors(matrixIn(run.out), texts)
    assert.equal(boughtInputs(MODEL) - boughtBefore, 10, name)
    assert.ok(!existsSync(`${run.out}.run`))
  }
})

test('a command that is killed with -9 in the middle goes on when it is given again', async () => {
  const { folder, texts } = corpusOf('killed', 900, 300)
  const args = [
    'batch',
    'run',
    'corpus.jsonl',
    '--model',
    SLOW,
    '--out',
    'vectors.npy',
    '--rows-per-batch',
    '100',
  ]
  const env = { TORANA_BASE_URL: `${gateway.url}/v1`, TORANA_KEY: gateway.key }
  const first = runTorana({ folder, args, env })
  await eventually(async () => assert.ok(readdirSync(join(folder, 'vectors.npy.run')).includes('vectors')))
  first.child.kill('SIGKILL')
  await first.exit
  const second = runTorana({ folder, args: [...args, '--json'], env })
  assert.equal(await second.exit, 0, second.stderr())
  assertVectors(matrixIn(join(folder, 'vectors.npy')), texts)
  assert.equal(boughtInputs(SLOW), 900)
  const printed = JSON.parse(second.stdout()) as Record<string, unknown>
  assert.deepEqual(
    [printed['vectors'], printed['errors'], printed['dimensions'], printed['model'], printed['type']],
    [900, 0, WIDTH, SLOW, 'float32'],
  )
  assert.match(String(printed['space']), /^slow-w8@8:[0-9a-f]{8}$/)
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'vectors.npy.json'), 'utf8')), printed)
})

test('rows that get no vector are in the errors file, and the exit code is 3', async () => {
  const folder = temporaryFolder()
  const env = { TORANA_BASE_URL: gateway.url, TORANA_KEY: gateway.key }
  writeFileSync(
    join(folder, 'corpus.csv'),
    'sku,description\r\na,"one, ""two"""\r\nb,\r\nc,"to @@refuse@@"\r\nd,four\r\n',
  )
  const args = ['batch', 'run', 'corpus.csv', '--model', MODEL, '--text', 'description', '--id', 'sku']
  const run = runTorana({ folder, args: [...args, '--out', 'vectors.parquet'], env })
  assert.equal(await run.exit, 3, run.stderr())
  const file = join(folder, 'vectors.parquet')
  const read = await Array.fromAsync((await openCorpus(file)).rows(0))
  const rows = read as unknown as readonly { id: string; vector: Iterable<number> }[]
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['a', 'd'],
  )
  const texts = ['one, "two"', 'four']
  for (const [row, { vector }] of rows.entries())
    assert.deepEqual(bitsOf(Float32Array.from(vector)), bitsOf(vectorOf(texts[row] ?? '', WIDTH)))
  assert.ok(readFileSync(file).includes('plain-w8@8:'))
  const errors = readFileSync(join(folder, 'vectors.parquet.errors.jsonl'), 'utf8').trim().split('\n')
  assert.deepEqual(
    errors.map((line) => {
      const { row, id, code } = JSON.parse(line) as { row: number; id: string; code: string }
      return [row, id, code]
    }),
    [
      [1, 'b', 'no_text'],
      [2, 'c', 'upstream_refused'],
    ],
  )
  const again = runTorana({ folder, args: [...args, '--out', 'vectors.parquet'], env })
  assert.deepEqual([await again.exit, /2 vectors of 8 dimensions/.test(again.stderr())], [3, true])
  const other = runTorana({
    folder,
    args: ['batch', 'run', 'corpus.csv', '--text', 'sku', '--out', 'vectors.parquet'],
    env,
  })
  assert.deepEqual([await other.exit, /is there already/.test(other.stderr())], [1, true])
})

test('a run whose batch is cancelled ends, and sends the rest when it is started again', async () => {
  const { texts, run } = corpusOf('cancelled', 3000, 3000)
  const slow = { ...run, model: SLOW }
  const boughtBefore = boughtInputs(SLOW)
  const caller = new BatchCaller(gateway.url)
  const client = new GatewayClient(gateway.url, gateway.key)
  const first = runCorpus(slow, client, SILENT).catch((error: unknown) => error)
  const batch = await eventually(async () => {
    const listed = await caller.fetch('/batches?limit=1')
    const [newest] = (
      (await listed.json()) as {
        data: { id: string; request_counts: { total: number; completed: number } }[]
      }
    ).data
    assert.ok(newest !== undefined && newest.request_counts.total === 3000)
    return newest
  })
  await caller.fetch(`/batches/${batch.id}/cancel`, { method: 'POST' })
  assert.match(String(await first), /Batch batch_\w+ was cancelled\./)
  const summary = await runCorpus(slow, client, SILENT)
  assert.equal(summary.vectors, 3000)
  assertVectors(matrixIn(slow.out), texts)
  assert.equal(boughtInputs(SLOW) - boughtBefore, 3000)
})

test('batches are listed, shown and downloaded as the API has them', async () => {
  const folder = temporaryFolder()
  const env = { TORANA_BASE_URL: gateway.url, TORANA_KEY: gateway.key }
  const caller = new BatchCaller(gateway.url)
  const line = { custom_id: 'x', method: 'POST', url: '/v1/embeddings', body: { model: MODEL, input: 'one' } }
  const { id } = await caller.create(await caller.upload(`${JSON.stringify(line)}\n`))
  const { output_file_id } = await caller.ended(id)
  const printed = async (...args: string[]): Promise<string> => {
    const { exit, stdout, stderr } = runTorana({ folder, args: ['batch', ...args], env })
    assert.equal(await exit, 0, stderr())
    return stdout() + stderr()
  }
  assert.match(await printed('ls', '--limit', '1'), new RegExp(`completed +plain-w8 +1 +0 +1 .*${id}`))
  assert.match(await printed('show', id), new RegExp(`output +${output_file_id}`))
  await printed('download', id, '--out', 'results.jsonl')
  const content = await (await caller.fetch(`/files/${output_file_id}/content`)).text()
  assert.equal(readFileSync(join(folder, 'results.jsonl'), 'utf8'), content)
})
