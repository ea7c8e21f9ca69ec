/** An edit as JSON: data URLs are files like any others; addresses go only to upstreams that fetch by themselves. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import sharp from 'sharp'
import type { FaultCode } from '#core/fault/fault.ts'
import {
  aMask,
  aPicture,
  askForm,
  askJson,
  dataUrl,
  digestsOf,
  EDITS,
  EDITS_PATH,
  editsAt,
  filePart,
  givenTo,
  references,
  send,
  uploadsGone,
} from '#test/support/edits.ts'
import { startGateway } from '#test/support/gateway.ts'
import { assertImageFault, picturesIn, sha256 } from '#test/support/image-answers.ts'
import { sendRaw } from '#test/support/raw.ts'

const images = {
  'edit-image': { on: 'plain', capabilities: { edits: EDITS, maxImages: 4 } },
  'json-image': { on: 'json-only', capabilities: { edits: { ...EDITS, bodies: ['json'] } } },
  'form-image': { on: 'multipart-only', capabilities: { edits: { ...EDITS, bodies: ['multipart'] } } },
  'white-image': { on: 'mask-white', capabilities: { edits: { ...EDITS, mask: 'white' } } },
  'sdk-image': {
    on: 'plain+key-sdk',
    upstream: { base: 'google/v1beta', dialect: 'ai-sdk', provider: 'google' },
    upstreamModel: 'gemini-2.5-flash-image',
    capabilities: { edits: { maxInputs: 4 } },
  },
}
const gateway = await startGateway({ images })
const { provider } = gateway

const [first, second] = await Promise.all([1, 2].map((seed) => aPicture(12, 10, seed)))
const mask = await aMask(12, 10, (x) => x < 4)
assert.ok(first && second)
const jpeg = await sharp(first).flatten().jpeg().toBuffer()
const webp = await sharp(first).webp().toBuffer()
const ADDRESS = 'https://pictures.example.com/a%20cat.png?size=1&x=ü'

for (const [format, bytes] of [
  ['png', first],
  ['jpeg', jpeg],
  ['webp', webp],
] as const) {
  test(`a data URL of ${format} arrives upstream byte by byte`, async () => {
    const label = { image_url: dataUrl(bytes, `image/${format}`) }
    await picturesIn(await askJson(gateway, { model: 'edit-image', images: [label] }))
    const entry = editsAt(provider, 'plain').at(-1)
    assert.deepEqual(givenTo(entry), digestsOf(bytes))
    assert.equal(entry?.parts?.[0]?.type, `image/${format}`)
  })
}

test('several data URLs and a mask arrive in their order, with what else was said', async () => {
  const fields = { model: 'edit-image', n: 2, sparkle: { deep: [1] } }
  const [mark] = references(mask)
  const answer = await askJson(gateway, { ...fields, images: references(second, first, second), mask: mark })
  assert.equal((await picturesIn(answer)).length, 2)
  const entry = editsAt(provider, 'plain').at(-1)
  assert.deepEqual(givenTo(entry), digestsOf(second, first, second, mask))
  assert.equal(entry?.fields?.['n'], 2)
})

for (const [model, scenario, sentAs] of [
  ['form-image', 'multipart-only', 'multipart'],
  ['json-image', 'json-only', 'json'],
] as const) {
  test(`${scenario}: what came as a form and what came as JSON are the same to it`, async () => {
    const [mark] = references(mask)
    const answers = [
      await askForm(gateway, { model }, [
        filePart('image[]', first),
        filePart('image[]', jpeg),
        filePart('mask', mask),
      ]),
      await askJson(gateway, {
        model,
        images: [...references(first), { image_url: dataUrl(jpeg, 'image/jpeg') }],
        mask: mark,
      }),
    ]
    for (const answer of answers) assert.equal((await picturesIn(answer)).length, 1)
    const entries = editsAt(provider, scenario)
    assert.deepEqual(entries.map(givenTo), [digestsOf(first, jpeg, mask), digestsOf(first, jpeg, mask)])
    for (const entry of entries) {
      assert.equal(entry.sentAs, sentAs)
      assert.deepEqual(
        entry.parts?.map(({ type }) => type),
        ['image/png', 'image/jpeg', 'image/png'],
      )
    }
  })
}

test('an address goes as it is to who fetches by himself, beside files and as a mask too', async () => {
  for (const model of ['edit-image', 'json-image']) {
    const fields = {
      model,
      images: [{ image_url: ADDRESS }, ...references(first)],
      mask: { image_url: ADDRESS },
    }
    await picturesIn(await askJson(gateway, fields))
    const entry = editsAt(provider).at(-1)
    assert.deepEqual(
      entry?.parts?.map(({ url, sha256: digest }) => url ?? digest),
      [ADDRESS, sha256(first), ADDRESS],
    )
    assert.equal(entry?.sentAs, 'json')
  }
})

test('elsewhere an address is refused, and nothing is sent', async () => {
  const before = provider.calls().length
  for (const model of ['form-image', 'sdk-image'])
    assertImageFault(
      await askJson(gateway, { model, images: [{ image_url: ADDRESS }] }),
      'unsupported_parameter',
      { param: 'image', words: /is an address/ },
    )
  for (const model of ['form-image', 'white-image'])
    assertImageFault(
      await askJson(gateway, { model, images: references(first), mask: { image_url: ADDRESS } }),
      'unsupported_parameter',
      { param: 'mask', words: /address/ },
    )
  assert.equal(provider.calls().length, before)
})

interface Refused {
  readonly code: FaultCode
  readonly param: string
  readonly words: RegExp
  readonly fields: Readonly<Record<string, object>>
}
const at = (...urls: unknown[]) => ({ images: urls.map((url) => ({ image_url: url })) })
const one = { images: references(first) }
const REFUSED: readonly Refused[] = [
  {
    code: 'unsupported_parameter',
    param: 'images[0]',
    words: /file_id/,
    fields: { file_id: { images: [{ file_id: 'file-1' }] } },
  },
  {
    code: 'unsupported_parameter',
    param: 'mask',
    words: /file_id/,
    fields: { 'file_id of a mask': { ...one, mask: { file_id: 'file-1' } } },
  },
  {
    code: 'invalid_parameter',
    param: 'image',
    words: /a list called images/,
    fields: { 'image instead of images': { image: dataUrl(first) } },
  },
  {
    code: 'invalid_parameter',
    param: 'images',
    words: /\{"image_url"/,
    fields: {
      'one text': { images: dataUrl(first) },
      'one object': { images: one.images[0] },
      'texts instead of objects': { images: [dataUrl(first)] },
    },
  },
  {
    code: 'invalid_parameter',
    param: 'images[0]',
    words: /^Each image in images must be an object \{"image_url"/,
    fields: {
      'addresses instead of objects': { images: [ADDRESS] },
      'something beside image_url': { images: [{ image_url: dataUrl(first), detail: 'high' }] },
    },
  },
  {
    code: 'invalid_parameter',
    param: 'images[0]',
    words: /must be a data URL .* at most 8192/,
    fields: {
      ftp: at('ftp://a.example/b.png'),
      'a file of this machine': at('file:///etc/passwd'),
      'no address': at('a.png'),
      'a number': at(7),
      nothing: at(null),
      'an endless address': at(`https://a.example/${'a'.repeat(9000)}`),
      'a data URL without base64': at('data:image/png,abc'),
    },
  },
  {
    code: 'invalid_parameter',
    param: 'images',
    words: /17 entries; at most 16/,
    fields: { seventeen: { images: references(...Array.from({ length: 17 }, () => first)) } },
  },
  {
    code: 'missing_parameter',
    param: 'image',
    words: /missing/,
    fields: { 'an empty list': { images: [] }, none: {}, 'a mask alone': { mask: one.images[0] } },
  },
  {
    code: 'invalid_image_file',
    param: 'images[1]',
    words: /^images\[1\] has a data URL whose content is not base64/,
    fields: { 'no base64': at(dataUrl(first), 'data:image/png;base64,#%!') },
  },
  {
    code: 'invalid_image_file',
    param: 'image',
    words: /not a PNG|is empty/,
    fields: {
      'base64 of a text': at(dataUrl(Buffer.from('hello there, this is no picture'))),
      'base64 of nothing': at('data:image/png;base64,'),
    },
  },
  {
    code: 'invalid_image_file',
    param: 'mask',
    words: /without transparency/,
    fields: { 'a mask without transparency': { ...one, mask: { image_url: dataUrl(jpeg) } } },
  },
  // With these, the whole image would be changed, or the upstream would not see all that was sent.
  {
    code: 'invalid_parameter',
    param: 'mask',
    words: /image_url/,
    fields: {
      'a mask as a text': { ...one, mask: dataUrl(mask) },
      'a list of masks': { ...one, mask: references(mask) },
    },
  },
  {
    code: 'invalid_parameter',
    param: 'a/b~c',
    words: /image_url/,
    fields: { 'a data URL in an unknown place': { ...one, 'a/b~c': [{ url: dataUrl(first) }] } },
  },
  {
    code: 'invalid_parameter',
    param: 'prompt',
    words: /image_url/,
    fields: { 'a data URL as a prompt': { ...one, prompt: dataUrl(first) } },
  },
]

for (const { code, param, words, fields } of REFUSED)
  for (const [what, body] of Object.entries(fields))
    test(`${what}: refused by its name, nothing is sent, and no file is left`, async () => {
      const before = provider.calls().length
      const answer = await askJson(gateway, { model: 'edit-image', ...body })
      assertImageFault(answer, code, { param, words })
      assert.equal(provider.calls().length, before)
      await uploadsGone(gateway)
    })

test('what is no JSON is refused', async () => {
  const headers = { 'content-type': 'application/json' }
  for (const body of ['{"images": [', '"data:image/png;base64,AAAA"', '[]', ''])
    assertImageFault(await send(gateway, body, { headers }), 'invalid_json')
})

test('a body of 33 MB is refused: at its header, and where it had none to tell, once it is too long', async () => {
  const announced = await sendRaw(gateway.url, [
    `POST ${EDITS_PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${33 * 1024 ** 2}\r\n\r\n`,
  ])
  assert.equal(announced.status, 413)
  assert.match(announced.body, /body_too_large/)
  const url = `data:image/png;base64,${'A'.repeat(33 * 1024 ** 2)}`
  const answer = await askJson(gateway, { model: 'edit-image', images: [{ image_url: url }] })
  assertImageFault(answer, 'body_too_large', { words: /multipart/ })
})

test('addresses that are to be fetched, and lie in a private network, are refused without a connection', async () => {
  let connections = 0
  const trap = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(trap, 'listening')
  after(() => trap.close())
  const { port } = trap.address() as AddressInfo
  const fetching = await startGateway({ images, limits: { fetchImageUrls: true } })
  for (const address of [
    `http://127.0.0.1:${port}/a.png`,
    `https://127.0.0.1:${port}/a.png`,
    `https://localhost:${port}/a.png`,
    `https://2130706433:${port}/a.png`,
    `https://[::1]:${port}/a.png`,
    `https://[::ffff:127.0.0.1]:${port}/a.png`,
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/a.png',
    'https://user:password@127.0.0.1/a.png',
  ]) {
    const answer = await askJson(fetching, { model: 'edit-image', images: [{ image_url: address }] })
    assertImageFault(answer, 'invalid_parameter', {
      param: 'images[0]',
      words: /^images\[0\] names an address/,
    })
  }
  // The answer must not differ between an internal name and a name that does not exist.
  const texts = ['https://localhost/a.png', 'https://10.0.0.1/a.png', 'https://nothing.invalid/a.png'].map(
    async (address) =>
      (await askJson(fetching, { model: 'edit-image', images: [{ image_url: address }] })).body.error.message,
  )
  assert.equal(new Set(await Promise.all(texts)).size, 1)
  assert.deepEqual([connections, fetching.provider.calls()], [0, []])
  await uploadsGone(fetching)
})
