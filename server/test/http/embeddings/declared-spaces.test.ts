/** Models that declare one space, as callers and operators see them: one name for their vectors, and a model that changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { ADMIN, ask, cli, guarded, spaceOfModel, verdicts } from '#test/e2e/spaces/guarded.ts'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { assertFault } from '#test/support/errors.ts'
import { GATEWAY_KEY, vectorsIn, type Asked } from '#test/support/gateway.ts'

const [LARGE, SMALL, WIDE] = ['large-w256', 'small-w256', 'wide-w512']
const rest = { cache: { ttl: '1h' }, space: 'makers' }
const { gateway } = await startGatewayOnPostgres({
  models: {
    [LARGE]: guarded(['large'], { ...rest, embedding: { dimensions: 256, matryoshka: true } }),
    [SMALL]: guarded(['small+vectors-sibling'], {
      ...rest,
      embedding: { dimensions: 256, matryoshka: true },
    }),
    [WIDE]: guarded(['wide'], { ...rest, embedding: { dimensions: 512, matryoshka: true } }),
  },
  env: ADMIN,
})
const { provider } = gateway
const ALL = [LARGE, SMALL, WIDE] as const

const pin = (space: string) => ({ headers: { 'x-torana-space': space } })
const named = ({ status, headers, text }: Asked): string => {
  assert.equal(status, 200, text)
  return headers.get('x-torana-space') ?? 'none'
}
const spaceNow = async (): Promise<string> => (await spaceOfModel(gateway, LARGE)).space
const embed = (model: string, fields: object) => gateway.ask({ model, input: 'a text', ...fields })

for (const model of ALL) await verdicts(gateway, model)
const space = await spaceNow()

test('models of a declared space have one name at each width, and each lists the others', async () => {
  assert.match(space, /^makers@256:[0-9a-f]{8}$/)
  const [large, small, wide] = await Promise.all(ALL.map((model) => spaceOfModel(gateway, model)))
  assert.deepEqual([small?.space, small?.shared_with], [space, [LARGE, WIDE]])
  assert.match(small?.own_space ?? '', /^small-w256@256:/)
  assert.match(wide?.space ?? '', /^makers@512:/)
  assert.notDeepEqual(large?.reference, small?.reference)
  const listed = await gateway.get(`/v1/models/${SMALL}`)
  assert.equal((JSON.parse(listed.text) as { capabilities: { space: string } }).capabilities.space, space)
  for (const fields of [
    { dimensions: 256 },
    { dimensions: 64 },
    { dimensions: 256, output_dtype: 'float16' },
  ]) {
    const names = new Set<string>()
    for (const model of ALL) names.add(named(await embed(model, fields)))
    assert.equal(names.size, 1, [...names].join())
    assert.match([...names].join(), /^makers@(?:256|64):[0-9a-f]{8}(?:\/float16)?$/)
  }
})

test("an index by the large model answers the small model's queries, by OpenAI's SDK and one pinned space", async () => {
  const defaultHeaders = pin(space).headers
  const client = new OpenAI({ apiKey: GATEWAY_KEY, baseURL: `${gateway.url}/v1`, defaultHeaders })
  const documents = Array.from({ length: 30 }, (_, index) => `document ${index} about subject ${index * 7}`)
  const vectorsBy = async (model: string): Promise<readonly (readonly number[])[]> => {
    const { data, response } = await client.embeddings
      .create({ model, input: documents, dimensions: 256 })
      .withResponse()
    assert.equal(response.headers.get('x-torana-space'), space)
    return data.data.map(({ embedding }) => embedding)
  }
  const [index, queries] = [await vectorsBy(LARGE), await vectorsBy(SMALL)]
  const score = (one: readonly number[], other: readonly number[]): number =>
    one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
  for (const [asked, query] of queries.entries()) {
    const scores = index.map((vector) => score(query, vector))
    assert.equal(scores.indexOf(Math.max(...scores)), asked)
  }
})

test("a pin of another width, or of another model's own space, is refused before any call; one of the own space is not", async () => {
  const before = provider.counters().calls
  const other = (await spaceOfModel(gateway, LARGE)).own_space
  assertFault(await ask(gateway, WIDE, 'wide', pin(space)), 'space_mismatch')
  assertFault(await ask(gateway, SMALL, 'own', pin(other)), 'space_mismatch')
  assert.equal(provider.counters().calls, before)
  const { own_space: own } = await spaceOfModel(gateway, SMALL)
  assert.equal(named(await ask(gateway, SMALL, 'own', pin(own))), own)
})

test('each model has its own cache entries: the same text is another vector of the same space', async () => {
  const [large, small] = [await ask(gateway, LARGE, 'one text'), await ask(gateway, SMALL, 'one text')]
  assert.deepEqual([named(large), named(small)], [space, space])
  assert.notDeepEqual(vectorsIn(large), vectorsIn(small))
  for (const [model, first] of [
    [LARGE, large],
    [SMALL, small],
  ] as const) {
    const again = await ask(gateway, model, 'one text')
    assert.equal(again.headers.get('x-torana-cache'), 'hits=1, misses=0')
    assert.deepEqual(vectorsIn(again), vectorsIn(first))
  }
})

test('a batch is of the declared space', async () => {
  const caller = new BatchCaller(gateway.url)
  const { id } = await caller.create(await caller.upload(embeddingLines(SMALL, ['a', 'b', 'c'])))
  const { status, torana } = await caller.ended(id)
  assert.deepEqual([status, torana.space], ['completed', space])
})

test('a model that changes is quarantined alone, and accepting its space renames the space of all, whose vectors stay in their caches', async () => {
  await ask(gateway, LARGE, 'kept')
  await provider.setMode('small', { vectors: 'other-model' })
  assert.deepEqual(Object.values(await verdicts(gateway, SMALL)), ['quarantined'])
  assertFault(await ask(gateway, SMALL, 'during drift', pin(space)), 'space_quarantined')
  assert.equal(named(await ask(gateway, LARGE, 'during drift', pin(space))), space)
  const own = (await spaceOfModel(gateway, LARGE)).own_space

  const accepted = await cli(gateway, 'accept', SMALL, `${SMALL}/mode-small.vectors-sibling`)
  assert.equal(accepted.code, 0, accepted.stderr)
  const next = await spaceNow()
  assert.notEqual(next, space)
  assert.ok(
    accepted.stderr.includes(`The space of ${SMALL}, ${LARGE}, ${WIDE} is now ${next}.`),
    accepted.stderr,
  )
  for (const model of [LARGE, SMALL]) {
    assertFault(await ask(gateway, model, 'after', pin(space)), 'space_mismatch')
    assert.equal(named(await ask(gateway, model, 'after', pin(next))), next)
  }
  const kept = await ask(gateway, LARGE, 'kept')
  assert.deepEqual([named(kept), kept.headers.get('x-torana-cache')], [next, 'hits=1, misses=0'])
  assert.equal(named(await ask(gateway, LARGE, 'own', pin(own))), own)
})
