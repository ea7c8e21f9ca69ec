/** Vectors that were handed out before the guard noticed: each is listed, by request and line of a batch. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { ADMIN, cli, control, guarded, probedGood, verdicts } from '#test/e2e/spaces/guarded.ts'
import { BatchCaller, chunkLines, embeddingLines } from '#test/support/batches.ts'
import { eventually } from '#test/support/process.ts'

const MODEL = 'wrong-w32'
const BUSY = 'busy-w32'
/** What changes in texts of this length shows in no probe: a batch of them ends. */
const BYTES = 40
const HIDDEN = { vectors: 'other-model', traits: `drifts-at-${BYTES}` }
const hiddenText = (text: string): string => text.padEnd(BYTES, '.')
const ONE_EACH = { capabilities: { maxInputs: 1 } }
const { gateway, database } = await startGatewayOnPostgres({
  models: {
    [MODEL]: guarded(['wrong', 'right'], { cache: { ttl: '1h' }, ...ONE_EACH }),
    [BUSY]: guarded(['turning', 'steady'], { deploymentLimits: { concurrency: 1 }, ...ONE_EACH }),
  },
  env: ADMIN,
})
const { provider } = gateway
const caller = new BatchCaller(gateway.url)

/** The good probes since the first are forgotten: so the window reaches back behind batches that have ended. */
async function forgetGood(model: string): Promise<void> {
  await database.query(
    `UPDATE space_standings SET good_at = '[]', good_sizes = '{}',
       last_good_at = (SELECT min(at) FROM space_probes WHERE space_probes.model = $1)
     WHERE model = $1`,
    [model],
  )
}

interface Window {
  readonly id: string
  readonly model: string
  readonly until: string | null
  readonly vectors: number
  readonly requests: number
  readonly keys: number
  readonly batch_lines: number
}

interface Vectors {
  readonly request_id: string
  readonly inputs: number
  readonly batch: string | null
  readonly lines: readonly (readonly [number, number])[] | null
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

describe('vectors of another space that were handed out', { concurrency: true }, () => {
  test('what callers got of another space is listed by request and line', async () => {
    const texts = Array.from({ length: 24 }, (_, line) => hiddenText(`text ${line}`))
    const early = await gateway.ask({ model: MODEL, input: ['long before'] })
    assert.equal(early.status, 200)
    await provider.setMode('wrong', HIDDEN)
    const { id } = await caller.create(await caller.upload(embeddingLines(MODEL, texts)))
    const asked = [
      await gateway.ask({ model: MODEL, input: ['one', 'two', 'three'].map(hiddenText) }),
      await gateway.ask({ model: MODEL, input: hiddenText('one') }),
    ]
    const batch = await caller.ended(id)
    assert.equal(batch.status, 'completed')
    await forgetGood(MODEL)
    await provider.setMode('wrong', { vectors: 'other-model' })
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
    }
    const lines = listed.flatMap((one) => one.lines ?? []).toSorted(([a], [b]) => a - b)
    assert.equal(
      lines.reduce((sum, [first, last]) => sum + last - first + 1, 0),
      24,
    )
    assert.deepEqual([lines[0]?.[0], lines.at(-1)?.[1]], [1, 24])
    assert.equal(window.until, null)

    await provider.setMode('wrong', {})
    await verdicts(gateway, MODEL)
    const ended = await windowOf(MODEL)
    assert.notEqual(ended.until, null)

    const shown = await cli(gateway, 'suspects')
    assert.match(shown.stdout, new RegExp(`${window.id} +${MODEL}/mode-wrong .* 24 `))
    const printed = (await cli(gateway, 'suspects', window.id)).stdout.trimEnd().split('\n')
    assert.deepEqual(
      printed.map((line) => JSON.parse(line) as Vectors),
      await vectorsOf(window),
    )
  })

  test('a batch that made its lines again by itself is not listed', async () => {
    await probedGood(gateway, BUSY)
    const texts = Array.from({ length: 12 }, (_, line) => hiddenText(`busy ${line}`))
    const first = await caller.create(await caller.upload(embeddingLines(BUSY, texts.slice(0, 3))))
    await provider.setMode('turning', HIDDEN)
    await caller.ended(first.id)
    await forgetGood(BUSY)
    await provider.setMode('turning', { traits: 'slow-300', vectors: 'other-model' })
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
  })
})
