import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import sharp from 'sharp'
import { startFakeProvider, type FakeProvider } from '../server.ts'
import {
  assertPainted,
  dataUrl,
  edit,
  editByForm,
  editByJson,
  maskOf,
  pictureOf,
  rgbaOf,
  sha256Of,
  type Kind,
  type Upload,
} from './edit-client.ts'
import { editTraits } from './edit-traits.ts'
import { assertLogged, lastPurchase, picturesIn, type ImagesAnswer } from './test-client.ts'

const [width, height] = [37, 23]
const everything = () => true
/** Neither symmetric nor aligned to bytes. */
const corner = (x: number, y: number) => x * 3 < width + y

let provider: FakeProvider
let picture: Buffer
let other: Buffer
let masks: Record<Kind, Buffer>
before(async () => {
  provider = await startFakeProvider()
  picture = await pictureOf(width, height)
  other = await pictureOf(width, height, 5)
  const made = (kind: Kind) => maskOf(width, height, kind, corner)
  masks = { alpha: await made('alpha'), white: await made('white'), black: await made('black') }
})
after(() => provider.close())

async function only(answer: ImagesAnswer): Promise<Buffer> {
  assert.equal(answer.status, 200, answer.text)
  const [first, ...rest] = await picturesIn(answer.json())
  assert.equal(rest.length, 0)
  return first ?? assert.fail()
}

describe('an edit as a form', () => {
  it('leaves every file in the log with its name, type, bytes and sum, in order, and every text', async () => {
    const parts: Upload[] = [
      { name: 'image[]', bytes: picture, filename: 'first.png' },
      { name: 'mask', bytes: masks.alpha, filename: 'mask.png' },
      {
        name: 'image[]',
        bytes: other,
        filename: 'sécond.png',
        type: 'image/webp',
      },
    ]
    const texts = { n: '2', quality: 'low', style_of_mine: 'x', input_fidelity: 'high' }
    const answer = await editByForm(`${provider.url}/plain`, parts, texts)
    assert.equal(answer.status, 200, answer.text)
    const entry = lastPurchase(provider) ?? assert.fail()
    assert.deepEqual(
      entry.parts,
      parts.map(({ name, bytes, filename, type = 'image/png' }) => {
        return {
          name,
          filename,
          type,
          bytes: bytes.length,
          sha256: sha256Of(bytes),
        }
      }),
    )
    assert.deepEqual(entry.partNames, [
      'model',
      'prompt',
      ...Object.keys(texts),
      'image[]',
      'mask',
      'image[]',
    ])
    const { operation, sentAs, painted, n, fields, promptSha256, model, served, status, wire } = entry
    assert.deepEqual(
      [operation, sentAs, painted, n, promptSha256, model, served, status, wire],
      ['edit', 'multipart', true, 2, sha256Of(Buffer.from(edit.prompt)), edit.model, true, 200, 'openai'],
    )
    assert.deepEqual(fields, { model: edit.model, ...texts, n: 2 })
    assert.ok(!JSON.stringify(entry).includes(edit.prompt))
    const pictures = await picturesIn(answer.json())
    await assertLogged(pictures, entry)
    assert.equal(new Set(pictures.map(sha256Of)).size, 2)
    for (const made of pictures) await assertPainted(picture, made, corner)
  })
})

describe('an edit as JSON', () => {
  it('decodes data URLs, and a mask', async () => {
    const images = [{ image_url: dataUrl(picture) }, { image_url: dataUrl(other) }]
    const answer = await editByJson(`${provider.url}/strict-fields`, {
      images,
      mask: { image_url: dataUrl(masks.alpha) },
      n: 1,
    })
    await assertPainted(picture, await only(answer), corner)
    const entry = lastPurchase(provider)
    const note = (name: string, bytes: Buffer) => {
      return { name, filename: null, type: 'image/png', bytes: bytes.length, sha256: sha256Of(bytes) }
    }
    assert.deepEqual(entry?.parts, [
      note('images/0', picture),
      note('images/1', other),
      note('mask', masks.alpha),
    ])
    assert.deepEqual(
      [entry?.sentAs, entry?.fields, entry?.partNames],
      ['json', { model: edit.model, n: 1 }, undefined],
    )
  })

  it('an address is recorded and not fetched', async () => {
    const url = `${provider.url}/plain/_file/nothing.png`
    const { calls } = provider.counters()
    const answer = await editByJson(`${provider.url}/plain`, { images: [{ image_url: url }], size: '96x64' })
    assert.equal((await rgbaOf(await only(answer))).width, 96)
    const entry = lastPurchase(provider)
    assert.deepEqual(entry?.parts, [
      { name: 'images/0', filename: null, type: null, bytes: 0, sha256: null, url },
    ])
    assert.deepEqual([entry?.painted, provider.counters().calls], [false, calls + 1])
  })

  it('refuses what is neither, and what is there twice', async () => {
    const refused = [
      {},
      { images: [] },
      { images: [{ image_url: 'ftp://x/a.png' }] },
      { images: [{ image_url: 'data:image/png;base64,!!!!' }] },
      { images: [{ file_id: 'file-1' }] },
      { images: [{ image_url: dataUrl(picture), more: 1 }] },
      { images: [dataUrl(picture)] },
    ]
    for (const fields of refused)
      assert.equal((await editByJson(`${provider.url}/plain`, fields)).status, 400)
  })
})

type Row = {
  traits: string
  parts?: () => Upload[]
  json?: () => object
  status?: number
  code?: string
  fields?: Record<string, string>
  /** What was painted; undefined for all of it. */
  edited?: (x: number, y: number) => boolean
}

const image = (name = 'image') => ({ name, bytes: picture })
const mask = (kind: Kind) => ({ name: 'mask', bytes: masks[kind] })
const images = (count: number) => Array.from({ length: count }, () => image('image[]'))
const inJson = () => ({ images: [{ image_url: dataUrl(picture) }] })

const rows: Row[] = [
  { traits: 'plain' },
  { traits: 'plain', parts: () => [image(), mask('alpha')], edited: corner },
  // Opaque everywhere: nothing is edited.
  { traits: 'plain', parts: () => [image(), mask('white')], edited: () => false },
  { traits: 'plain', parts: () => images(16) },
  { traits: 'plain', parts: () => images(17), status: 400, code: 'array_above_max_length' },
  { traits: 'plain', parts: () => [], status: 400, code: 'missing_required_parameter' },
  { traits: 'plain', parts: () => [image(), image()], status: 400, code: 'duplicate_parameter' },
  { traits: 'plain', parts: () => [image(), image('image[]')], status: 400, code: 'duplicate_parameter' },
  {
    traits: 'plain',
    parts: () => [image(), mask('alpha'), mask('alpha')],
    status: 400,
    code: 'duplicate_parameter',
  },
  { traits: 'plain', parts: () => [image(), mask('alpha'), { name: 'markup', bytes: picture }], status: 400 },
  { traits: 'plain', parts: () => [image(), { name: 'markup', bytes: picture }] },
  { traits: 'plain', parts: () => [image(), { name: 'other', bytes: picture }] },
  { traits: 'strict-fields', parts: () => [image(), { name: 'other', bytes: picture }], status: 400 },
  { traits: 'strict-fields', fields: { colour: 'red' }, status: 400, code: 'unknown_parameter' },
  { traits: 'plain', fields: { n: 'two' }, status: 400 },
  { traits: 'plain', fields: { stream: 'yes' }, status: 400 },
  { traits: 'plain', fields: { input_fidelity: 'middle' }, status: 400 },
  {
    traits: 'plain',
    parts: () => [{ name: 'image', bytes: Buffer.from('no picture') }],
    status: 400,
    code: 'invalid_image_file',
  },
  {
    traits: 'plain',
    parts: () => [image(), { name: 'mask', bytes: Buffer.from('x') }],
    status: 400,
    code: 'invalid_image_file',
  },
  { traits: 'max-bytes-100', status: 413 },
  { traits: 'no-edits', status: 404 },
  { traits: 'no-edits', json: inJson, status: 404 },
  { traits: 'json-only', status: 415 },
  { traits: 'json-only', json: inJson },
  { traits: 'multipart-only' },
  { traits: 'multipart-only', json: inJson, status: 415 },
  { traits: 'no-mask' },
  { traits: 'no-mask', parts: () => [image(), mask('alpha')], status: 400, code: 'unsupported_parameter' },
  { traits: 'mask-white', parts: () => [image(), mask('white')], edited: corner },
  { traits: 'mask-white', parts: () => [image(), mask('black')], edited: (x, y) => !corner(x, y) },
  // White everywhere, whatever its alpha says.
  { traits: 'mask-white', parts: () => [image(), mask('alpha')] },
  { traits: 'mask-black', parts: () => [image(), mask('black')], edited: corner },
  { traits: 'mask-black', parts: () => [image(), mask('alpha')], edited: () => false },
  { traits: 'ignores-mask', parts: () => [image(), mask('alpha')] },
  { traits: 'one-image' },
  { traits: 'one-image', parts: () => images(2), status: 400, code: 'array_above_max_length' },
  { traits: 'max-inputs-3', parts: () => images(3) },
  { traits: 'max-inputs-3', parts: () => images(4), status: 400 },
  { traits: 'file-bytes-1000000' },
  { traits: 'file-bytes-100', status: 400, code: 'file_too_large' },
  { traits: 'file-bytes-100', json: inJson, status: 400 },
  { traits: 'strict-types' },
  {
    traits: 'strict-types',
    parts: () => [{ ...image(), type: 'application/octet-stream' }],
    status: 400,
    code: 'unsupported_file_mimetype',
  },
  { traits: 'early-refusal', status: 400 },
]

describe('traits of edits', () => {
  for (const { traits, parts, json, fields, status = 200, code, edited = everything } of rows) {
    const what = json === undefined ? 'form' : 'JSON'
    it(`${traits}: ${status} ${code ?? ''} for a ${what}${fields ? ` with ${JSON.stringify(fields)}` : ''}`, async () => {
      const at = `${provider.url}/${traits}`
      const answer = json
        ? await editByJson(at, json())
        : await editByForm(at, parts?.() ?? [image()], fields)
      assert.equal(answer.status, status, answer.text)
      const entry = provider.entries().at(-1)
      assert.deepEqual([entry?.status, entry?.served, entry?.operation], [status, status === 200, 'edit'])
      if (status !== 200) {
        if (code !== undefined) assert.equal(answer.json().error?.code, code)
        return
      }
      await assertPainted(picture, await only(answer), edited)
    })
  }

  it('a mask of another size, or without alpha where alpha counts, is refused', async () => {
    const small = await maskOf(width - 1, height, 'alpha', corner)
    const opaque = await sharp(masks.white).removeAlpha().png().toBuffer()
    for (const [traits, bytes] of [
      ['plain', small],
      ['plain', opaque],
      ['mask-white', small],
      ['mask-black', small],
    ] as const) {
      const answer = await editByForm(`${provider.url}/${traits}`, [image(), { name: 'mask', bytes }])
      assert.deepEqual([answer.status, answer.json().error?.code], [400, 'invalid_image_file'])
    }
    await assertPainted(
      picture,
      await only(await editByForm(`${provider.url}/mask-white`, [image(), { name: 'mask', bytes: opaque }])),
      corner,
    )
  })

  it('hash-only: the sums are in the log and the answer is a drawing', async () => {
    const answer = await editByForm(`${provider.url}/hash-only`, [image()], { size: '96x64' })
    assert.equal((await rgbaOf(await only(answer))).width, 96)
    const entry = lastPurchase(provider)
    assert.deepEqual([entry?.painted, entry?.parts?.[0]?.sha256], [false, sha256Of(picture)])
  })

  it('early-refusal: nothing of the body was read', async () => {
    const answer = await editByForm(`${provider.url}/early-refusal`, [
      { name: 'image', bytes: Buffer.alloc(8_000_000) },
    ])
    assert.equal(answer.status, 400)
    assert.equal(provider.entries().at(-1)?.requestBytes, 0)
  })

  it('a form that is none is refused', async () => {
    for (const contentType of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
      const answer = await fetch(`${provider.url}/plain/v1/images/edits`, {
        method: 'POST',
        headers: { 'content-type': contentType },
        body: 'nothing of the kind',
      })
      assert.equal(answer.status, 400)
    }
  })

  it('each one is in a test', () => {
    const tests =
      readFileSync(new URL('edits.test.ts', import.meta.url), 'utf8') +
      readFileSync(new URL('uploads.test.ts', import.meta.url), 'utf8')
    for (const trait of Object.keys(editTraits))
      assert.match(tests, new RegExp(trait.replace(/-N$/, String.raw`-\d`)))
  })
})
