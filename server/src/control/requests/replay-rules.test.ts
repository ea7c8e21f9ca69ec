import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CAPTURED_MS, MAX_CAPTURED_BYTES } from '#ports/captures.ts'
import { costOf, replayOf, sendsOf, type Replayable } from './replay-rules.ts'

const CAPTURED: Replayable = {
  project: 'search',
  source: 'callers',
  ageMs: 1000,
  bytes: 100,
  isCaptured: true,
  captures: true,
}
const LOST = { ...CAPTURED, isCaptured: false }

const REASONS: readonly (readonly [name: string, request: Replayable, reason: string | null])[] = [
  ['its input is kept', CAPTURED, null],
  ['its project does not capture', { ...LOST, captures: false }, 'capture_off'],
  ['capture was turned off since', { ...CAPTURED, captures: false }, 'capture_off'],
  ['its caller was not known', { ...LOST, project: null }, 'capture_off'],
  ['its day is over', { ...LOST, ageMs: CAPTURED_MS }, 'expired'],
  ['it is too large', { ...LOST, bytes: MAX_CAPTURED_BYTES + 1 }, 'too_large'],
  ['it is of a batch', { ...LOST, source: 'batches' }, 'batch'],
  ['nothing is known', LOST, 'not_captured'],
]

for (const [name, request, reason] of REASONS)
  test(`a request says why it can not be sent again: ${name}`, () => {
    const { possible, reason: given, text } = replayOf(request)
    assert.deepEqual([possible, given, text === null], [reason === null, reason, reason === null])
  })

test('the cost is the most of any deployment, and unknown where one has no price', () => {
  const dryRun = (...costs: readonly string[]): string =>
    JSON.stringify({
      model: 'small',
      deployments: costs.map((max, index) => ({ id: `small/${index}`, cost_usd: { min: '0', max } })),
    })
  assert.equal(costOf(200, dryRun('0.000000200', '0.000001000')).cost?.max_usd, '0.000001000')
  assert.deepEqual(costOf(200, dryRun('unpriced', '0.000001000')).cost, {
    model: 'small',
    max_usd: null,
    deployments: [
      { id: 'small/0', max_usd: null },
      { id: 'small/1', max_usd: '0.000001000' },
    ],
  })
  const refused = costOf(404, JSON.stringify({ error: { code: 'model_not_found', message: 'No such.' } }))
  assert.deepEqual(refused, {
    cost: null,
    refusal: { status: 404, code: 'model_not_found', message: 'No such.' },
  })
})

test('of a large body the beginning is shown', () => {
  const body = Buffer.from(JSON.stringify({ input: 'ä'.repeat(9000) }))
  const sends = sendsOf({ route: 'embeddings', path: undefined, headers: {}, body })
  assert.deepEqual([sends.body.length, sends.bytes], [4000, body.length])
})
