/** Models that take images: their image encoder is compared as their text encoder is. `lab/check/image-drift` is the long form. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROBE_IMAGES } from '#core/embedding/probe-images.ts'
import { startGateway, type ModelSpec } from '#test/support/gateway.ts'
import { pngOf } from '#test/support/media.ts'
import { eventually } from '#test/support/process.ts'
import { ADMIN, ask, guarded, probe, spaceOfModel, statesOf, type ProbeBody } from './guarded.ts'

const TAKING: Partial<ModelSpec> = {
  upstream: { base: 'openrouter/api/v1' },
  capabilities: { contents: { wire: 'openrouter', inputs: ['text', 'image'], fuses: true, maxImages: 2 } },
}
const NAMES = ['changed', 'noisy', 'broken', 'cached'] as const
const gateway = await startGateway({
  models: {
    ...Object.fromEntries(
      NAMES.map((name) => [`${name}-w64`, guarded([`${name}-one`, `${name}-two`], TAKING)]),
    ),
    'cached-w64': guarded(['cached-one'], { ...TAKING, cache: { ttl: '1h' } }),
  },
  env: ADMIN,
})
const { provider } = gateway

async function trusted(name: string): Promise<void> {
  await eventually(async () => {
    for (const state of Object.values(await statesOf(gateway, `${name}-w64`))) assert.equal(state, 'trusted')
    const { reference } = await spaceOfModel(gateway, `${name}-w64`)
    assert.notEqual(reference, null)
  })
}

const deploymentOf = (mode: string): string => `mode-${mode}.openrouter.api.v1`
const one = (probes: Record<string, ProbeBody>, name: string): ProbeBody =>
  probes[deploymentOf(`${name}-one`)] ?? assert.fail(`${name}-one was not probed`)

test('a changed image encoder behind an unchanged text encoder is quarantined at the next probe, and the reason says images', async () => {
  await trusted('changed')
  await provider.setMode('changed-one', { traits: 'other-image-encoder' })
  const probes = await probe(gateway, 'changed-w64')
  const { verdict, reason, cosines } = one(probes, 'changed')
  assert.equal(verdict, 'quarantined')
  assert.match(reason ?? '', /^images are in another space: least cosine/)
  assert.equal(cosines?.length, 8 + PROBE_IMAGES.length)
  assert.ok(cosines.slice(0, 8).every((cosine) => cosine > 0.9999))
  assert.ok(cosines.slice(8).every((cosine) => cosine < 0.9))
  assert.equal(probes[deploymentOf('changed-two')]?.verdict, 'good')
  // As a whole: a text, too, is served by the other.
  const answer = await ask(gateway, 'changed-w64', 'a text')
  assert.equal(answer.headers.get('x-torana-deployment'), `changed-w64/${deploymentOf('changed-two')}`)
  await provider.setMode('changed-one', {})
  assert.equal(one(await probe(gateway, 'changed-w64'), 'changed').verdict, 'good')
})

test("a decoder's noise of a thousandth is good", async () => {
  await trusted('noisy')
  await provider.setMode('noisy-one', { traits: 'image-noise-1000' })
  for (let round = 0; round < 20; round += 1)
    assert.equal(one(await probe(gateway, 'noisy-w64'), 'noisy').verdict, 'good')
})

test('images that get no answer hide no change of the texts', async () => {
  await trusted('broken')
  await provider.setMode('broken-one', { traits: 'takes-audio' })
  const failed = one(await probe(gateway, 'broken-w64'), 'broken')
  assert.equal(failed.verdict, 'failed')
  assert.match(failed.reason ?? '', /^images: /)
  await provider.setMode('broken-one', { traits: 'takes-audio', vectors: 'other-model' })
  const outside = one(await probe(gateway, 'broken-w64'), 'broken')
  assert.equal(outside.verdict, 'quarantined')
  assert.match(outside.reason ?? '', /^another space/)
})

test('vectors that were cached since the last good probe are not used again', async () => {
  await trusted('cached')
  const url = `data:image/png;base64,${(await pngOf(20, 10)).toString('base64')}`
  const input = [{ content: [{ type: 'image_url', image_url: { url } }] }]
  const vector = async () => {
    const answer = await gateway.ask({ model: 'cached-w64', input })
    return { status: answer.status, code: answer.body.error?.code, data: answer.body.data }
  }
  await provider.setMode('cached-one', { traits: 'other-image-encoder' })
  const wrong = await vector()
  assert.equal(wrong.status, 200)
  assert.deepEqual(await vector(), wrong, 'from the cache')
  await probe(gateway, 'cached-w64')
  assert.equal((await vector()).code, 'space_quarantined')
  await provider.setMode('cached-one', {})
  await probe(gateway, 'cached-w64')
  await eventually(async () => {
    const right = await vector()
    assert.equal(right.status, 200)
    assert.notDeepEqual(right.data, wrong.data)
  })
})

test('calls of a probe keep within the limits of the deployment, and every image is sent once', async () => {
  await trusted('noisy')
  const before = provider.entries().length
  await probe(gateway, 'noisy-w64')
  const calls = provider
    .entries()
    .slice(before)
    .filter(({ contents }) => contents !== undefined)
  const images = calls.map(
    ({ contents = [] }) => contents.flat().filter(({ kind }) => kind === 'image').length,
  )
  assert.equal(
    images.reduce((sum, count) => sum + count, 0),
    2 * PROBE_IMAGES.length,
  )
  assert.ok(images.every((count) => count <= 2))
})
