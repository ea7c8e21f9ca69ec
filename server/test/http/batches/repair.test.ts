/** Vectors that were handed out before the guard noticed: each is listed, and lines of batches are embedded again. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { ADMIN, cli, control, FEW_RIDES, guarded, rodeOnce, verdicts } from '#test/e2e/spaces/guarded.ts'
import { bitsOf } from '#test/support/arbitraries.ts'
import { BatchCaller, chunkLines, embeddingLines } from '#test/support/batches.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { fromBase64, vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const MODEL = 'wrong-w32'
const BUSY = 'busy-w32'
/** Calls with one text carry no ride, which would notice the change at once. */
const ONE_EACH = { capabilities: { maxInputs: 1 } }
const { gateway, database } = await startGatewayOnPostgres({
  models: {
    [MODEL]: guarded(['wrong', 'right'], { cache: { ttl: '1h' }, ...ONE_EACH }),
    [BUSY]: guarded(['turning', 'steady'], { deploymentLimits: { concurrency: 1 }, ...ONE_EACH }),
  },
  limits: FEW_RIDES,
  env: ADMIN,
})
const { provider } = gateway
const caller = new BatchCaller(gateway.url)

interface Window {
  readonly id: string
  readonly model: string
  readonly vectors: number
  readonly requests: number
  readonly keys: number
  readonly batch_lines: number
  readonly repairable_vectors: number
  readonly repaired_vectors: number
  readonly repaired_by: readonly string[]
  readonly state: string
}

interface Vectors {
  readonly request_id: string
  readonly inputs: number
  readonly batch: string | null
  readonly lines: readonly (readonly [number, number])[] | null
  readonly repairable: boolean
}

interface Repairs {
  readonly data: readonly { readonly batch: string; readonly of: string; readonly lines: number }[]
}

async function windowOf(model: string): Promise<Window> {
  const { data } = await control<{ data: readonly Window[] }>(gateway, 'GET', '/spaces/suspects')
  return data.find((one) => one.model === model) ?? assert.fail('there is no window')
}

async function vectorsOf({ id }: Window): Promise<readonly Vectors[]> {
  const all: Vectors[] = []
  for (let next: string | null = ''; next !== null;) {
    const cursor: string = next === '' ? '' : `&cursor=${next}`
    const page: { data: readonly Vectors[]; next: string | null } = await control(
      gateway,
      'GET',
      `/spaces/suspects/${id}/vectors?limit=2${cursor}`,
    )
    all.push(...page.data)
    next = page.next
  }
  return all
}

/** Beside each other: a repair that a dead node planned is made within a quarter of a minute. */
describe('vectors of another space that were handed out', { concurrency: true }, () => {
  test('what callers got of another space is listed by request and line, and a repair makes exactly those lines again', async () => {
    const texts = Array.from({ length: 24 }, (_, line) => `text ${line}`)
    const early = await gateway.ask({ model: MODEL, input: ['long before'] })
    assert.equal(early.status, 200)
    await provider.setMode('wrong', { vectors: 'other-model' })
    const { id } = await caller.create(await caller.upload(embeddingLines(MODEL, texts)))
    const asked = [
      await gateway.ask({ model: MODEL, input: ['one', 'two', 'three'] }),
      await gateway.ask({ model: MODEL, input: 'one' }),
    ]
    const batch = await caller.ended(id)
    assert.equal(batch.status, 'completed')
    assert.deepEqual(await verdicts(gateway, MODEL), { 'mode-wrong': 'quarantined', 'mode-right': 'good' })

    const window = await eventually(async () => {
      const found = await windowOf(MODEL)
      assert.equal(found.batch_lines, 24)
      return found
    })
    const listed = await vectorsOf(window)
    const requests = listed.filter(({ batch: of }) => of === null)
    for (const [index, answer] of asked.entries()) {
      const found = requests.find((one) => one.request_id === answer.headers.get('x-request-id'))
      assert.equal(found?.inputs, [3, 1][index])
      assert.equal(found?.repairable, false)
    }
    const lines = listed.flatMap((one) => one.lines ?? []).toSorted(([a], [b]) => a - b)
    assert.equal(
      lines.reduce((sum, [first, last]) => sum + last - first + 1, 0),
      24,
    )
    assert.deepEqual([lines[0]?.[0], lines.at(-1)?.[1]], [1, 24])
    assert.equal(window.state, 'open')
    assert.equal(window.repairable_vectors, 24)

    const repairs = await control<Repairs>(gateway, 'POST', `/spaces/suspects/${window.id}/repair`)
    assert.deepEqual(
      repairs.data.map(({ of, lines: count }) => [of, count]),
      [[id, 24]],
    )
    const again = await control<Repairs>(gateway, 'POST', `/spaces/suspects/${window.id}/repair`)
    assert.deepEqual(
      again.data.map(({ batch: one }) => one),
      repairs.data.map(({ batch: one }) => one),
    )
    const repaired = await caller.ended(repairs.data[0]?.batch ?? '')
    assert.equal(repaired.status, 'completed')
    const results = await caller.lines(repaired.output_file_id)
    assert.deepEqual(
      results.map(({ custom_id }) => custom_id).toSorted(),
      texts.map((_, line) => `line ${line}`).toSorted(),
    )
    for (const { custom_id, response } of results) {
      const text = texts[Number(custom_id.slice('line '.length))] ?? ''
      const vector = fromBase64(response?.body.data[0]?.embedding ?? '')
      assert.deepEqual(bitsOf(vector), bitsOf(vectorOf(text, 32)))
    }
    await provider.setMode('wrong', {})
    await verdicts(gateway, MODEL)
    const { state, repaired_vectors: count, repaired_by: by } = await windowOf(MODEL)
    assert.deepEqual([state, count, by], ['repaired', 24, [repaired.id]])
    const audited = await database.query(
      `SELECT 1 FROM audit WHERE action = 'space.repair' AND target = $1`,
      [window.id],
    )
    assert.equal(audited.length, 1)

    const shown = await cli(gateway, 'suspects')
    assert.match(shown.stdout, new RegExp(`${window.id} +${MODEL}/mode-wrong .* repaired .* 24 of 24`))
    const file = join(temporaryFolder(), 'suspects.jsonl')
    const out = await cli(gateway, 'repair', window.id, '--list', '--output', file)
    assert.equal(out.code, 0, out.stderr)
    assert.deepEqual(
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as Vectors).request_id),
      (await vectorsOf(window)).map((one) => one.request_id),
    )
  })

  test('a batch that made its lines again by itself is not listed, and a repair that a dead node planned is made', async () => {
    await rodeOnce(gateway, BUSY)
    await provider.setMode('turning', { traits: 'slow-300' })
    const texts = Array.from({ length: 12 }, (_, line) => `busy ${line}`)
    const first = await caller.create(await caller.upload(embeddingLines(BUSY, texts.slice(0, 3))))
    await provider.setMode('turning', { traits: 'slow-300', vectors: 'other-model' })
    await caller.ended(first.id)
    // Each line is a chunk: the batch lasts longer than the probe.
    const second = await caller.create(await caller.upload(chunkLines(BUSY, texts)))
    await eventually(async () => assert.ok(provider.mode('turning').inFlight > 0))
    await verdicts(gateway, BUSY)
    await caller.ended(second.id)
    const window = await eventually(async () => {
      const found = await windowOf(BUSY)
      assert.equal(found.batch_lines, 3)
      return found
    })
    assert.deepEqual([...new Set((await vectorsOf(window)).flatMap((one) => one.batch ?? []))], [first.id])
    const repairId = 'batch_01900000000070008000000000000001'
    await database.query(
      'INSERT INTO suspect_repairs (window_id, batch_id, repair_batch_id) VALUES ($1, $2, $3)',
      [window.id, first.id, repairId],
    )
    const repaired = await eventually(() => caller.ended(repairId))
    assert.deepEqual(repaired.request_counts, { total: 3, completed: 3, failed: 0 })
    const { data } = await control<Repairs>(gateway, 'POST', `/spaces/suspects/${window.id}/repair`)
    assert.deepEqual(
      data.map(({ batch: one }) => one),
      [repairId],
    )
  })
})
