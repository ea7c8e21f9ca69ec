/** The upstream's own meter: its counts and charges are passed on unchanged, and charged within bounds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { askImages, assertImageFault, eventsIn, type ImagesAsked } from '#test/support/image-answers.ts'

/** Ten dollars per million tokens of the image; the provider counts 66 for 256x256. */
const price = { usdPerMillionTokens: { textInput: 'free', imageOutput: 10 } }
const expecting = (outputTokens: number) => ({ image: { outputTokens }, price })
const streams = { stream: true, maxPartialImages: 0, maxImages: 4 }
const keyOf = (name: string) => `key-of-a-metered-${name}-0001`
const bfl = { base: 'bfl/v1', dialect: 'ai-sdk', provider: 'black-forest-labs' } as const

const gateway = await startGateway({
  images: {
    'exact-image': { on: 'plain', ...expecting(66) },
    'behind-image': { on: 'plain+key-behind', ...expecting(33) },
    'absurd-image': { on: 'plain+key-absurd', ...expecting(15) },
    'flux-2-flex': {
      on: 'polls-1',
      upstream: bfl,
      upstreamModel: 'flux-2-flex',
      capabilities: { formats: ['jpeg'], sizes: ['256x256'] },
    },
    'usage-last-image': { on: 'usage-last', ...expecting(66), capabilities: streams },
    'usage-first-image': { on: 'usage-first', ...expecting(66), capabilities: streams },
    'planning-image': {
      on: 'plain+key-planning',
      ...expecting(66),
      capabilities: { complexities: ['low', 'high'], formats: ['png', 'gif'] },
    },
    'strict-image': {
      on: 'strict-fields',
      ...expecting(66),
      capabilities: { complexities: ['low', 'high'] },
    },
    // The count of tokens plays the part of a cost in hundredths of a cent.
    'router-image': {
      on: 'plain+key-router',
      price: { usdPerImage: 0.04 },
      capabilities: {
        formats: ['png', 'gif'],
        reportedCost: { field: 'usage.output_tokens', usdPerUnit: 0.0001 },
      },
    },
    'dear-image': {
      on: 'plain+key-dear',
      price: { usdPerImage: 0.04 },
      capabilities: { reportedCost: { field: 'usage.output_tokens', usdPerUnit: 1 } },
    },
  },
  projects: {
    poor: { budget: { usd: 0.0005, per: 'total', hard: true }, keys: [{ name: 'k', secret: keyOf('poor') }] },
  },
})
const ask = (model: string, key?: string) =>
  askImages(gateway, { model, size: '256x256' }, key === undefined ? {} : { key })
const headersOf = ({ headers }: ImagesAsked): (string | null)[] =>
  ['cost', 'usage', 'cost-by'].map((name) => headers.get(`x-torana-${name}`))
const outputTokens = ({ body }: ImagesAsked): unknown =>
  (body['usage'] as { output_tokens?: unknown } | undefined)?.output_tokens

for (const [model, headers] of [
  ['exact-image', ['0.000660000', 'upstream', null]],
  ['behind-image', ['0.000660000', 'upstream', null]],
  ['absurd-image', ['0.000600000', 'estimated', null]],
  ['flux-2-flex', ['0.040000000', 'upstream', 'upstream']],
  ['router-image', ['0.006600000', 'upstream', 'upstream']],
  ['dear-image', ['0.160000000', 'estimated', 'upstream']],
] as const) {
  test(`${model}: charged by the upstream's meter, up to four times what is expected`, async () => {
    const answer = await ask(model)
    assert.equal(answer.status, 200, answer.text.slice(0, 300))
    assert.deepEqual(headersOf(answer), headers)
    if (model !== 'flux-2-flex')
      assert.equal(outputTokens(answer), 66, 'the answer says what the upstream said')
  })
}

for (const on of ['usage-last', 'usage-first']) {
  test(`${on}: a stream whose upstream counts in one event alone is charged by it, and the last event says it`, async () => {
    const fields = { model: `${on}-image`, size: '256x256', n: 3, stream: true }
    const answer = await askImages(gateway, fields)
    assert.deepEqual(headersOf(answer), ['0.001980000', 'upstream', null])
    const events = eventsIn(answer).map(({ data }) => (data as { usage?: { output_tokens?: number } }).usage)
    assert.deepEqual(
      events.map((usage) => usage?.output_tokens),
      [0, 0, 198],
    )
  })
}

test('complexity and frame_count go to the upstream; frames of a model with a price by the image are refused', async () => {
  const answer = await askImages(gateway, { model: 'planning-image', complexity: 'high', size: '256x256' })
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  // An upstream without such a field names it in its refusal.
  const strict = await askImages(gateway, { model: 'strict-image', complexity: 'high', size: '256x256' })
  assertImageFault(strict, 'upstream_refused', { words: /complexity/ })
  const dryRun = { 'x-torana-dry-run': 'true' }
  const gif = { size: '256x256', output_format: 'gif', frame_count: 16 }
  const framed = await askImages(gateway, { model: 'planning-image', ...gif }, { headers: dryRun })
  assert.match(framed.text, /"0\.010560000"/, '16 frames of 66 tokens')
  assertImageFault(await askImages(gateway, { model: 'router-image', ...gif }), 'unsupported_parameter', {
    param: 'frame_count',
  })
})

test('calls above what is expected are counted for operators, those that were cut apart', async () => {
  const text = await (await fetch(new URL('/metrics', gateway.controlUrl))).text()
  const counts = [
    ...text.matchAll(/^torana_upstream_overcounts_total\{model="([^"]+)",.*charged="(\w+)"\} 1$/gm),
  ]
  assert.deepEqual(
    Object.fromEntries(counts.map(([, model, charged]) => [model, charged])),
    Object.fromEntries([
      ['absurd-image', 'part'],
      ['behind-image', 'all'],
      ['dear-image', 'part'],
    ]),
  )
})

test('a post above its reservation counts against a hard budget, which refuses the next request', async () => {
  // 0.00033 is reserved, 0.00066 is posted, and 0.0005 is all there is.
  const first = await ask('behind-image', keyOf('poor'))
  assert.deepEqual([first.status, ...headersOf(first)], [200, '0.000660000', 'upstream', null])
  assertImageFault(await ask('behind-image', keyOf('poor')), 'budget_exhausted')
})
