/** What scenarios change in vectors of images. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { contentTraits, type ContentTrait } from './content-traits.ts'
import { contentVector } from './contents.ts'
import { image, mp3 } from './sample-media.ts'
import { startFakeProvider } from './server.ts'
import { scenarioOf, UnknownTrait } from './traits.ts'
import { vectorOf } from './vectors.ts'
import { post, spoken, type Given } from './wires/contents-client.ts'

const provider = await startFakeProvider()
after(() => provider.close())

const png = await image('png')

describe('traits of contents', () => {
  const vectorIn = async (scenario: string, content: Given[]): Promise<Float32Array> => {
    const { path, body } = spoken.vllm
    const { json } = await post(`${provider.url}/${scenario}`, path, body([content]))
    return Float32Array.from(json['data']?.[0]?.['embedding'] as unknown as number[])
  }
  const cosine = (left: Float32Array, right: Float32Array) =>
    left.reduce((sum, value, position) => sum + value * (right[position] ?? 0), 0)

  it('other-image-encoder changes inputs with an image and nothing else', async () => {
    assert.deepEqual(await vectorIn('other-image-encoder', ['x']), vectorOf('x', 64))
    assert.deepEqual(await vectorIn('other-image-encoder', [mp3(1)]), contentVector([mp3(1).bytes], 64))
    for (const content of [[png], ['x', png]]) {
      const changed = await vectorIn('other-image-encoder', content)
      assert.ok(Math.abs(cosine(changed, await vectorIn('plain', content))) < 0.6)
      assert.deepEqual(changed, await vectorIn('other-image-encoder', content), 'always the same')
    }
  })

  it('image-noise-N moves values of images by up to N millionths, in another way at each call', async () => {
    const right = contentVector([png.bytes], 64)
    const one = await vectorIn('image-noise-1000', [png])
    const two = await vectorIn('image-noise-1000', [png])
    assert.notDeepEqual(one, two)
    for (const noisy of [one, two]) {
      const largest = Math.max(...noisy.map((value, position) => Math.abs(value - (right[position] ?? 0))))
      assert.ok(largest > 1e-4 && largest < 1.2e-3, String(largest))
    }
    assert.deepEqual(await vectorIn('image-noise-1000', ['x']), vectorOf('x', 64))
  })

  it('a mode switches them while the server runs', async () => {
    const right = contentVector([png.bytes], 64)
    assert.deepEqual(await vectorIn('mode-encoder', [png]), right)
    await provider.setMode('encoder', { traits: 'other-image-encoder' })
    assert.notDeepEqual(await vectorIn('mode-encoder', [png]), right)
    assert.deepEqual(await vectorIn('mode-encoder', ['x']), vectorOf('x', 64))
    await provider.setMode('encoder')
    assert.deepEqual(await vectorIn('mode-encoder', [png]), right)
  })

  it('no trait is left out here', () => {
    const tested = ['max-parts-2', 'max-images-1', 'takes-image', 'other-image-encoder', 'image-noise-1000']
    const names = Object.keys(contentTraits) as ContentTrait[]
    assert.deepEqual(
      names.filter((trait) => !tested.some((name) => scenarioOf(name).has(trait))),
      [],
    )
    for (const name of ['takes', 'takes-KINDS', 'takes-smell', 'image-noise']) {
      assert.throws(() => scenarioOf(name), UnknownTrait)
    }
  })
})
