/** Models of one family, as callers and operators see them: one name for their vectors, and a member that drifts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { MIN_AGREEMENT } from '#core/embedding/family.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { GATEWAY_KEY, vectorsIn } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import {
  ADMIN,
  ask,
  cli,
  control,
  guarded,
  probe,
  spaceOfModel,
  verdicts,
  type SpaceBody,
} from './guarded.ts'

const [LARGE, SMALL, STRANGER] = ['large-w256', 'small-w256', 'stranger-w256']
const cache = { ttl: '1h' }
const { gateway } = await startGatewayOnPostgres({
  models: {
    [LARGE]: guarded(['large'], { cache, embedding: { dimensions: 256, matryoshka: true } }),
    [SMALL]: {
      on: 'mode-small+vectors-family-member',
      spaceGuard: true,
      cache,
      embedding: { dimensions: 256, matryoshka: true },
    },
    [STRANGER]: { on: 'mode-stranger+vectors-other-model', spaceGuard: true },
  },
  spaces: { makers: { members: [LARGE, SMALL, STRANGER] } },
  env: ADMIN,
})
const { provider } = gateway

const familyOf = async (model: string): Promise<NonNullable<SpaceBody['family']>> =>
  (await spaceOfModel(gateway, model)).family ?? assert.fail(`${model} has no family`)

const stateOf = async (model: string): Promise<string> => (await familyOf(model)).state

await eventually(async () => {
  assert.deepEqual(
    [await stateOf(LARGE), await stateOf(SMALL), await stateOf(STRANGER)],
    ['joined', 'joined', 'outside'],
  )
})
const { space } = await spaceOfModel(gateway, LARGE)
const pin = { headers: { 'x-torana-space': space } }

test('a family has one space, and a stranger among its declared members keeps its own', async () => {
  assert.match(space, /^makers@256:[0-9a-f]{8}$/)
  const [small, stranger] = [await spaceOfModel(gateway, SMALL), await spaceOfModel(gateway, STRANGER)]
  assert.equal(small.space, space)
  assert.match(small.own_space, /^small-w256@256:/)
  assert.ok((small.family?.agreement ?? 0) >= MIN_AGREEMENT)
  assert.equal((await familyOf(LARGE)).is_reference, true)
  assert.deepEqual([stranger.space, stranger.family?.name], [stranger.own_space, 'makers'])
  assert.match(stranger.family?.reason ?? '', /another order/)
  const listed = await gateway.get(`/v1/models/${SMALL}`)
  assert.equal((JSON.parse(listed.text) as { capabilities: { space: string } }).capabilities.space, space)
})

test("an index by the large model answers the small model's queries, by OpenAI's SDK and one pinned space", async () => {
  const client = new OpenAI({
    apiKey: GATEWAY_KEY,
    baseURL: `${gateway.url}/v1`,
    defaultHeaders: pin.headers,
  })
  const documents = Array.from({ length: 30 }, (_, index) => `document ${index} about subject ${index * 7}`)
  const embed = async (model: string, input: string[]): Promise<readonly (readonly number[])[]> => {
    const { data, response } = await client.embeddings.create({ model, input }).withResponse()
    assert.equal(response.headers.get('x-torana-space'), space)
    return data.data.map(({ embedding }) => embedding)
  }
  const index = await embed(LARGE, documents)
  const queries = await embed(SMALL, documents)
  const score = (one: readonly number[], other: readonly number[]): number =>
    one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
  for (const [asked, query] of queries.entries()) {
    const scores = index.map((vector) => score(query, vector))
    assert.equal(scores.indexOf(Math.max(...scores)), asked)
  }
})

test('each member has its own cache entries: the same text is another vector of the same space', async () => {
  const [large, small] = [
    await ask(gateway, LARGE, 'one text', pin),
    await ask(gateway, SMALL, 'one text', pin),
  ]
  assert.deepEqual([large.status, small.status], [200, 200])
  assert.notDeepEqual(vectorsIn(large), vectorsIn(small))
  const again = await ask(gateway, SMALL, 'one text', pin)
  assert.deepEqual(
    [vectorsIn(again), again.headers.get('x-torana-cache')],
    [vectorsIn(small), 'hits=1, misses=0'],
  )
})

test('narrower vectors and types of members share a name too, and pins of a model’s own space keep working', async () => {
  for (const fields of [{ dimensions: 64 }, { output_dtype: 'float16' }]) {
    const names = await Promise.all(
      [LARGE, SMALL].map(async (model) => {
        const answer = await gateway.ask({ model, input: 'cut', ...fields })
        return answer.headers.get('x-torana-space') ?? answer.text
      }),
    )
    assert.equal(names[0], names[1])
    assert.match(names[0] ?? '', /^makers@(64:[0-9a-f]{8}|256:[0-9a-f]{8}\/float16)$/)
  }
  const { own_space: own } = await spaceOfModel(gateway, SMALL)
  const pinned = await ask(gateway, SMALL, 'own', { headers: { 'x-torana-space': own } })
  assert.deepEqual([pinned.status, pinned.headers.get('x-torana-space')], [200, own])
  const other = await ask(gateway, LARGE, 'own', { headers: { 'x-torana-space': own } })
  assert.deepEqual([other.status, other.body.error.code], [412, 'space_mismatch'])
  const stranger = await ask(gateway, STRANGER, 'mine', pin)
  assert.deepEqual([stranger.status, stranger.body.error.code], [412, 'space_mismatch'])
  assert.match(stranger.body.error.message, /not in the space of its family 'makers' at present/)
})

test('a member that drifts is quarantined, leaves when its space is accepted, and returns when it is right again', async () => {
  await provider.setMode('small', { vectors: 'other-model' })
  assert.deepEqual(Object.values(await verdicts(gateway, SMALL)), ['quarantined'])
  const quarantined = await ask(gateway, SMALL, 'during drift', pin)
  assert.deepEqual([quarantined.status, quarantined.body.error.code], [503, 'space_quarantined'])
  assert.equal((await ask(gateway, LARGE, 'during drift', pin)).status, 200)

  const deployment = `${SMALL}/mode-small.vectors-family-member`
  const accept = (): Promise<SpaceBody> =>
    control<SpaceBody>(gateway, 'POST', `/spaces/${SMALL}/accept`, { deployment })
  const accepted = await accept()
  assert.deepEqual([accepted.space, accepted.family?.state], [accepted.own_space, 'waiting'])
  await probe(gateway, SMALL)
  assert.equal(await stateOf(SMALL), 'outside')
  const left = await ask(gateway, SMALL, 'after drift', pin)
  assert.deepEqual([left.status, left.body.error.code], [412, 'space_mismatch'])
  const own = await ask(gateway, SMALL, 'after drift')
  assert.deepEqual([own.status, own.headers.get('x-torana-space')], [200, accepted.own_space])
  assert.deepEqual(
    [(await ask(gateway, LARGE, 'after', pin)).status, (await familyOf(LARGE)).generation],
    [200, 1],
  )

  const listed = await cli(gateway, 'list')
  assert.match(listed.stdout, /makers +small-w256 +outside +-?\d\.\d{3}/)
  assert.match(listed.stdout, /makers +large-w256 +joined \(reference\) +1\.000/)

  await provider.setMode('small', {})
  await accept()
  await probe(gateway, SMALL)
  assert.equal(await stateOf(SMALL), 'joined')
  assert.equal((await ask(gateway, SMALL, 'after all', pin)).status, 200)
})
