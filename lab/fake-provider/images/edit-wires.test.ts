import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { ImageModelV4, ImageModelV4CallOptions } from '@ai-sdk/provider'
import { fast, imagesOf, packages } from '../packages.ts'
import { startFakeProvider } from '../server.ts'
import { assertPainted, maskOf, pictureOf, rgbaOf, sha256Of, type Kind } from './edit-client.ts'
import { lastPurchase } from './test-client.ts'

const [width, height] = [48, 32]
const corner = (x: number, y: number) => x < 20 && y > 5
const address = 'https://pictures.example/a.png'

type Row = {
  title: string
  wire: string
  model: (base: string) => ImageModelV4
  providerOptions?: ImageModelV4CallOptions['providerOptions']
  /** The names under which two pictures are in the body; one where the package sends no more. */
  names: string[]
  mask?: { name: string; kind: Kind }
  /** The wire's own format loses bits. */
  lossy?: true
}

const nova = (base: string) => packages.bedrock(base).image('amazon.nova-canvas-v1:0')
const inReplicate = { replicate: { ...fast, output_format: 'png' } }

const rows: Row[] = [
  {
    title: 'Google',
    wire: 'google',
    model: (base) => packages.google(base).image('gemini-3-pro-image'),
    names: ['contents/0/parts/1', 'contents/0/parts/2'],
  },
  {
    title: 'Vertex',
    wire: 'vertex',
    model: (base) => packages.vertex(base).image('gemini-3-pro-image'),
    names: ['contents/0/parts/1', 'contents/0/parts/2'],
  },
  {
    title: 'Bedrock, variations',
    wire: 'bedrock',
    model: nova,
    names: ['imageVariationParams/images/0', 'imageVariationParams/images/1'],
  },
  {
    title: 'Bedrock, inpainting',
    wire: 'bedrock',
    model: nova,
    names: ['inPaintingParams/image'],
    mask: { name: 'inPaintingParams/maskImage', kind: 'black' },
  },
  {
    title: 'Bedrock, outpainting',
    wire: 'bedrock',
    model: nova,
    providerOptions: { amazonBedrock: { taskType: 'OUTPAINTING' } },
    names: ['outPaintingParams/image'],
    mask: { name: 'outPaintingParams/maskImage', kind: 'white' },
  },
  {
    title: 'Black Forest Labs',
    wire: 'black-forest-labs',
    model: (base) => packages.bfl(base).image('flux-2-pro'),
    providerOptions: { blackForestLabs: { outputFormat: 'png' } },
    names: ['input_image', 'input_image_2'],
  },
  {
    title: 'Black Forest Labs, fill',
    wire: 'black-forest-labs',
    model: (base) => packages.bfl(base).image('flux-pro-1.0-fill'),
    providerOptions: { blackForestLabs: { outputFormat: 'png' } },
    names: ['image', 'image_2'],
    mask: { name: 'mask', kind: 'white' },
  },
  {
    title: 'fal, one picture',
    wire: 'fal',
    model: (base) => packages.fal(base).image('fal-ai/flux/dev/inpainting'),
    providerOptions: { fal: { outputFormat: 'png' } },
    names: ['image_url'],
    mask: { name: 'mask_url', kind: 'white' },
  },
  {
    title: 'fal, several',
    wire: 'fal',
    model: (base) => packages.fal(base).image('fal-ai/flux-2/edit'),
    providerOptions: { fal: { outputFormat: 'png', useMultipleImages: true } },
    names: ['image_urls/0', 'image_urls/1'],
  },
  {
    title: 'Replicate',
    wire: 'replicate',
    model: (base) => packages.replicate(base).image('black-forest-labs/flux-fill-pro'),
    providerOptions: inReplicate,
    names: ['input/image'],
    mask: { name: 'input/mask', kind: 'white' },
  },
  {
    title: 'Replicate, Flux 2',
    wire: 'replicate',
    model: (base) => packages.replicate(base).image('black-forest-labs/flux-2-pro'),
    providerOptions: inReplicate,
    names: ['input/input_image', 'input/input_image_2'],
  },
  {
    title: 'Fireworks',
    wire: 'fireworks',
    model: (base) => packages.fireworks(base).image('accounts/fireworks/models/flux-kontext-pro'),
    providerOptions: { fireworks: { output_format: 'png' } },
    names: ['input_image'],
  },
  {
    title: 'Together',
    wire: 'together',
    model: (base) => packages.together(base).image('black-forest-labs/FLUX.1-kontext-pro'),
    names: ['image_url'],
    lossy: true,
  },
  {
    title: 'xAI',
    wire: 'xai',
    model: (base) => packages.xai(base).image('grok-imagine-image'),
    providerOptions: { xai: { output_format: 'png' } },
    names: ['images/0', 'images/1'],
  },
]

const provider = await startFakeProvider()
const pictures = [await pictureOf(width, height), await pictureOf(width, height, 3)]
after(() => provider.close())

function file(bytes: Uint8Array) {
  return { type: 'file' as const, mediaType: 'image/png', data: new Uint8Array(bytes) }
}

async function edited(model: ImageModelV4, options: Partial<ImageModelV4CallOptions>): Promise<Buffer> {
  const [image = assert.fail()] = await imagesOf(model, options)
  return image
}

describe('edits by the packages of the AI SDK', () => {
  for (const { title, wire, model, providerOptions = {}, names, mask, lossy } of rows) {
    it(`${title}: pictures are found, and painted ${mask ? `where the mask is ${mask.kind}` : 'over'}`, async () => {
      const sent = mask === undefined ? null : await maskOf(width, height, mask.kind, corner)
      const made = await edited(model(`${provider.url}/strict-fields`), {
        files: pictures.slice(0, names.length).map(file),
        mask: sent === null ? undefined : file(sent),
        providerOptions,
      })
      const entry = lastPurchase(provider)
      assert.deepEqual([entry?.wire, entry?.painted, entry?.served], [wire, true, true])
      const expected = names.map((name, position) => [name, sha256Of(pictures[position] ?? assert.fail())])
      if (sent !== null) expected.push([mask?.name ?? '', sha256Of(sent)])
      assert.deepEqual(
        entry?.parts?.map(({ name, sha256 }) => [name, sha256]),
        expected,
      )
      const { width: madeWidth, height: madeHeight } = await rgbaOf(made)
      assert.deepEqual([madeWidth, madeHeight], [width, height])
      if (!lossy)
        await assertPainted(pictures[0] ?? assert.fail(), made, mask === undefined ? () => true : corner)
    })
  }

  it('one picture for xAI is no list, and a form is refused', async () => {
    const model = packages.xai(`${provider.url}/plain`).image('grok-imagine-image')
    await edited(model, { files: [file(pictures[0] ?? assert.fail())] })
    const entry = lastPurchase(provider)
    assert.deepEqual([entry?.operation, entry?.sentAs], ['edit', 'json'])
    assert.deepEqual(
      entry?.parts?.map(({ name }) => name),
      ['image'],
    )
    const body = new FormData()
    body.set('prompt', 'x')
    const answer = await fetch(`${provider.url}/plain/xai/v1/images/edits`, {
      method: 'POST',
      headers: { authorization: 'Bearer k' },
      body,
    })
    assert.equal(answer.status, 415)
  })

  for (const [referenceType, name] of [
    ['image', 'image/0'],
    ['style', 'style/0'],
    ['character', 'character/identity0/images/0'],
    ['modify_image', 'modify_image/url'],
  ] as const) {
    it(`Luma takes addresses, as ${referenceType}`, async () => {
      const model = packages.luma(`${provider.url}/strict-fields`).image('photon-1')
      const files = [{ type: 'url' as const, url: address }]
      await edited(model, { files, providerOptions: { luma: { referenceType, ...fast } } })
      const entry = lastPurchase(provider)
      assert.deepEqual(
        entry?.parts?.map((part) => [part.name, part.url]),
        [[name, address]],
      )
      assert.equal(entry?.painted, false)
    })
  }

  it('an address in the place of a picture is recorded and not fetched', async () => {
    const models = [
      packages.bfl(`${provider.url}/plain`).image('flux-2-pro'),
      packages.fal(`${provider.url}/plain`).image('fal-ai/flux/dev'),
      packages.replicate(`${provider.url}/plain`).image('black-forest-labs/flux-2-pro'),
    ]
    for (const model of models) {
      await edited(model, { files: [{ type: 'url', url: address }] })
      const entry = lastPurchase(provider)
      assert.deepEqual(
        entry?.parts?.map(({ url, sha256 }) => [url, sha256]),
        [[address, null]],
      )
    }
  })

  it('the traits of edits are those of every wire', async () => {
    const refused = async (traits: string, options: Partial<ImageModelV4CallOptions>) => {
      await assert.rejects(
        edited(packages.fal(`${provider.url}/${traits}`).image('fal-ai/flux-2/edit'), options),
      )
      const entry = provider.entries().at(-1)
      assert.deepEqual([entry?.status, entry?.served], [400, false])
    }
    const [first = assert.fail()] = pictures
    const files = pictures.map(file)
    const several = { files, providerOptions: { fal: { useMultipleImages: true } } }
    await refused('one-image', several)
    await refused('max-inputs-1', several)
    await refused('file-bytes-100', several)
    await refused('no-mask', { files: [file(first)], mask: file(first) })
    await refused('early-refusal', several)
  })
})
