/** An edit as a form, in all the ways that clients write one: the same files reach the upstream in the same order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import sharp from 'sharp'
import {
  aMask,
  aPicture,
  askForm,
  digestsOf,
  EDITS,
  EDITS_PATH,
  editsAt,
  filePart,
  givenTo,
  sendForm,
  textParts,
} from '#test/support/edits.ts'
import type { FormPart } from '#test/support/forms.ts'
import { startGateway } from '#test/support/gateway.ts'
import { assertImageFault, picturesIn } from '#test/support/image-answers.ts'

const edits = { ...EDITS, markup: true, fidelities: ['low', 'high'] }
const gateway = await startGateway({
  images: {
    'edit-image': {
      on: 'plain',
      capabilities: {
        edits,
        maxImages: 4,
        qualities: ['low', 'high'],
        formats: ['png', 'jpeg', 'webp'],
        compression: true,
        stream: true,
        maxPartialImages: 3,
        user: true,
      },
      aliases: ['edit-alias'],
    },
    'strict-image': { on: 'strict-types+strict-fields', capabilities: { edits } },
    'sdk-image': {
      on: 'plain+key-sdk',
      upstream: { base: 'xai/v1', dialect: 'ai-sdk', provider: 'xai' },
      upstreamModel: 'grok-imagine-image',
      capabilities: { edits: { maxInputs: 4 }, formats: ['png', 'jpeg'] },
    },
    'acme/edit-image': { on: 'plain+key-acme', capabilities: { edits } },
  },
})
const { provider } = gateway
const model = { name: 'model', value: 'edit-image' }
const prompt = { name: 'prompt', value: 'a blue bicycle' }

const [first, second, third] = await Promise.all([1, 2, 3].map((seed) => aPicture(12, 10, seed)))
const mask = await aMask(12, 10, (x) => x < 4)
assert.ok(first && second && third)
const jpeg = await sharp(first).flatten().jpeg().toBuffer()
const webp = await sharp(first).webp().toBuffer()

const bare = (name: string, value: Uint8Array): FormPart => ({ name, value })
interface Shape {
  readonly what: string
  readonly parts: readonly FormPart[]
  /** The files that the upstream gets. */
  readonly given: readonly Uint8Array[]
}
const SHAPES: readonly Shape[] = [
  { what: 'one image', parts: [model, prompt, filePart('image', first)], given: [first] },
  { what: 'one image[]', parts: [model, prompt, filePart('image[]', first)], given: [first] },
  {
    what: 'several image[]',
    parts: [model, prompt, ...[third, first, second].map((bytes) => filePart('image[]', bytes))],
    given: [third, first, second],
  },
  {
    what: 'image, repeated',
    parts: [model, prompt, ...[second, third, first].map((bytes) => filePart('image', bytes))],
    given: [second, third, first],
  },
  {
    what: 'image[0] and image[1]',
    parts: [model, prompt, filePart('image[0]', second), filePart('image[1]', first)],
    given: [second, first],
  },
  {
    what: 'numbers that do not come in their order',
    parts: [
      model,
      prompt,
      filePart('image[2]', third),
      filePart('image[0]', first),
      filePart('image[1]', second),
    ],
    given: [first, second, third],
  },
  {
    what: 'the same picture twice',
    parts: [model, prompt, filePart('image[]', first), filePart('image[]', first)],
    given: [first, first],
  },
  {
    what: 'files without a filename',
    parts: [model, prompt, { ...bare('image[]', first), type: 'image/png' }, bare('image[]', second)],
    given: [first, second],
  },
  {
    what: 'a file without a type',
    parts: [model, prompt, { ...bare('image', first), filename: 'x' }],
    given: [first],
  },
  {
    what: 'the model behind the files',
    parts: [filePart('image', first), filePart('mask', mask), prompt, model],
    given: [first, mask],
  },
  {
    what: 'the mask before the pictures, and texts in between',
    parts: [filePart('mask', mask), prompt, filePart('image[]', second), model, filePart('image[]', first)],
    given: [second, first, mask],
  },
  {
    what: 'a markup',
    parts: [model, filePart('markup', mask), filePart('image', first), prompt],
    given: [first, mask],
  },
  {
    what: 'JPEG and WebP',
    parts: [model, prompt, filePart('image[]', jpeg), filePart('image[]', webp)],
    given: [jpeg, webp],
  },
]

for (const { what, parts, given } of SHAPES) {
  test(`${what}: the upstream is given the same bytes in the same order`, async () => {
    const answer = await sendForm(gateway, parts)
    assert.equal((await picturesIn(answer)).length, 1)
    const entry = editsAt(provider, 'plain').at(-1)
    assert.deepEqual(givenTo(entry), digestsOf(...given))
    assert.equal(entry?.served, true)
  })
}

test('a file is labelled upstream as what it is, whatever its sender called it', async () => {
  const files = [
    filePart('image[]', first, { type: 'application/octet-stream' }),
    filePart('image[]', jpeg, { filename: '../../etc/passwd"\r\n', type: 'image/png' }),
    filePart('image[]', webp, { filename: 'x.exe', type: 'text/plain' }),
  ].map((part) => ({ ...part, filename: part.filename?.replaceAll(/["\r\n]/g, '_') ?? '' }))
  await picturesIn(await askForm(gateway, { model: 'strict-image' }, files))
  const parts = editsAt(provider, 'strict-types+strict-fields').at(-1)?.parts
  assert.deepEqual(
    parts?.map(({ type, filename }) => [type, filename]),
    [
      ['image/png', 'image-1.png'],
      ['image/jpeg', 'image-2.jpeg'],
      ['image/webp', 'image-3.webp'],
    ],
  )
})

test('texts that stand for numbers and switches are read as such', async () => {
  const texts = {
    model: 'edit-image',
    n: '2',
    quality: 'low',
    size: 'auto',
    output_format: 'jpeg',
    output_compression: '40',
    input_fidelity: 'high',
    user: 'somebody',
    stream: 'false',
  }
  const pictures = await picturesIn(await askForm(gateway, texts, [filePart('image', first)]))
  for (const bytes of pictures) assert.equal((await sharp(bytes).metadata()).format, 'jpeg')
  assert.equal(pictures.length, 2)
  const { model: _, size: _size, stream: _stream, ...said } = texts
  const { model: upstreamModel, ...fields } = editsAt(provider, 'plain').at(-1)?.fields ?? {}
  assert.deepEqual(fields, { ...said, n: 2, output_compression: 40 })
  assert.equal(upstreamModel, 'edit-image')

  const streamed = await askForm(gateway, { model: 'edit-image', stream: 'true', partial_images: '1' }, [
    filePart('image', first),
  ])
  assert.match(streamed.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.equal(editsAt(provider, 'plain').at(-1)?.fields?.['partial_images'], 1)
})

for (const [name, value] of [
  ['n', 'two'],
  ['n', '1.5'],
  ['n', ''],
  ['n', '0x2'],
  ['n', '11'],
  ['stream', 'yes'],
  ['stream', 'TRUE'],
  ['output_compression', '101'],
  ['partial_images', '4'],
  ['size', '0x0'],
  ['prompt', ''],
] as const) {
  test(`${name}=${value || '(empty)'} is refused by its name, and nothing is sent`, async () => {
    const before = provider.calls().length
    const answer = await askForm(gateway, { model: 'edit-image', [name]: value }, [filePart('image', first)])
    assertImageFault(answer, 'invalid_parameter', { param: name })
    assert.equal(provider.calls().length, before)
  })
}

test('unknown fields go unchanged to an upstream of the OpenAI dialect, and to no other', async () => {
  const texts = { sparkle: '3', 'shine[]': 'é', __proto__x: '{"a":1}' }
  await picturesIn(await askForm(gateway, { model: 'edit-image', ...texts }, [filePart('image', first)]))
  const { sparkle, __proto__x: odd } = editsAt(provider, 'plain').at(-1)?.fields ?? {}
  assert.deepEqual([sparkle, odd], ['3', '{"a":1}'])
  assert.deepEqual(editsAt(provider, 'plain').at(-1)?.fields?.['shine[]'], ['é'])

  const files = [filePart('image', first)]
  const asked = { model: 'sdk-image', sparkle: '3' }
  assertImageFault(await askForm(gateway, asked, files), 'unsupported_parameter', { param: 'sparkle' })
  const dropped = await askForm(gateway, asked, files, { headers: { 'x-torana-unsupported': 'drop' } })
  await picturesIn(dropped)
  assert.equal(dropped.headers.get('x-torana-dropped'), 'sparkle')
  assert.deepEqual(givenTo(editsAt(provider, 'plain+key-sdk').at(-1)), digestsOf(first))
})

test('every path answers, with the model in the form or in the path', async () => {
  const files = [prompt, filePart('image', second)]
  const deployment = '/openai/deployments/acme%2Fedit-image/images/edits'
  for (const [path, texts, scenario] of [
    [EDITS_PATH, { model: 'edit-alias' }, 'plain'],
    ['/images/edits', { model: 'edit-image' }, 'plain'],
    ['/openai/v1/images/edits', { model: 'edit-image' }, 'plain'],
    ['/openai/deployments/edit-image/images/edits?api-version=2025-04-01-preview', {}, 'plain'],
    [deployment, {}, 'plain+key-acme'],
    [deployment, { model: 'whatever' }, 'plain+key-acme'],
  ] as const) {
    const before = editsAt(provider, scenario).length
    await picturesIn(await sendForm(gateway, [...textParts(texts), ...files], { path }))
    assert.deepEqual(givenTo(editsAt(provider, scenario)[before]), digestsOf(second), path)
  }
  assertImageFault(await sendForm(gateway, files), 'missing_parameter', { param: 'model' })
})

test('OpenAI’s SDK sends what arrives, one picture or a list', async () => {
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const file = (bytes: Buffer): Promise<File> => toFile(bytes, 'a.png', { type: 'image/png' })
  for (const pictures of [[first], [second, first, third]]) {
    const image = await Promise.all(pictures.map(file))
    const { data } = await client.images.edit({
      model: 'edit-image',
      prompt: 'a blue bicycle',
      image: image.length === 1 ? (image[0] as File) : image,
      mask: await file(mask),
      n: 2,
    })
    assert.equal(data?.length, 2)
    assert.deepEqual(givenTo(editsAt(provider, 'plain').at(-1)), digestsOf(...pictures, mask))
  }
})
