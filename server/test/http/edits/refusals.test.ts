/** A refused edit is refused before any upstream is called: nothing is sent, reserved or stored. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import sharp from 'sharp'
import type { FaultCode } from '#core/fault/fault.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
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
  send,
  sendForm,
  textParts,
  uploadsGone,
} from '#test/support/edits.ts'
import { BOUNDARY, formBody, type FormPart } from '#test/support/forms.ts'
import { IMAGES_PATH, assertImageFault, picturesIn } from '#test/support/image-answers.ts'
import { sendEdit } from '#test/support/large-edits.ts'
import { BOMBS } from '#test/support/picture-bombs.ts'
import { sendRaw } from '#test/support/raw.ts'

const KEY = 'key-of-a-project-with-a-budget'
const price = { usdPerImage: 0.04 }
const { gateway, database } = await startGatewayOnPostgres({
  images: {
    'edit-image': { on: 'plain', capabilities: { edits: { ...EDITS, markup: true } }, price },
    'words-image': { on: 'no-edits', price },
    'maskless-image': { on: 'no-mask', capabilities: { edits: { maxInputs: 4 } }, price },
    'single-image': { on: 'one-image', capabilities: { edits: { mask: 'alpha' } }, price },
    'png-image': {
      on: 'plain+key-png',
      capabilities: { edits: { mask: 'alpha', inputFormats: ['png'] } },
      price,
    },
    'light-image': {
      on: 'file-bytes-400',
      capabilities: { edits: { maxInputs: 2, mask: 'alpha', maxFileBytes: 400 } },
      price,
    },
    'faithful-image': {
      on: 'plain+key-faithful',
      capabilities: { edits: { fidelities: ['low'] } },
      price,
    },
  },
  projects: { shop: { keys: [{ name: 'k', secret: KEY }], budget: { usd: 1, per: 'total', hard: true } } },
})
const { provider } = gateway

/** Nothing was called, reserved, begun or left behind. */
async function assertUntouched(): Promise<void> {
  await uploadsGone(gateway)
  // Not the node's own look at whether the upstream is there.
  const calls = provider.calls()
  assert.deepEqual(calls, [])
  const [counts] = await database.query<Record<string, bigint>>(
    `SELECT (SELECT count(*) FROM image_jobs) AS jobs, (SELECT count(*) FROM usage_events) AS rows,
       (SELECT coalesce(sum(leased_nano), 0)::bigint FROM budgets) AS leased`,
  )
  assert.deepEqual(Object.values(counts ?? {}).map(Number), [0, 0, 0])
}

const picture = await aPicture(40, 30)
const mask = await aMask(40, 30, (x) => x < 9)
const otherMask = await aMask(30, 40, (x) => x < 9)
const jpeg = await sharp(picture).flatten().jpeg().toBuffer()
const halves = {
  png: picture.subarray(0, -(picture.length >> 2)),
  jpeg: jpeg.subarray(0, -(jpeg.length >> 4)),
}
const image = filePart('image', picture)
const many = (count: number): FormPart[] => Array.from({ length: count }, () => filePart('image[]', picture))

interface Refused {
  readonly what: string
  readonly model?: string
  readonly texts?: Readonly<Record<string, string>>
  readonly files: readonly FormPart[]
  readonly code: FaultCode
  readonly param: string
  readonly words?: RegExp
}
const REFUSED: readonly Refused[] = [
  { what: 'no picture', files: [], code: 'missing_parameter', param: 'image' },
  { what: 'a mask alone', files: [filePart('mask', mask)], code: 'missing_parameter', param: 'image' },
  {
    what: 'a mask without alpha',
    files: [image, filePart('mask', jpeg)],
    code: 'invalid_image_file',
    param: 'mask',
    words: /without transparency/,
  },
  ...(['png', 'jpeg'] as const).map((format): Refused => ({
    what: `half a ${format}`,
    files: [filePart('image', halves[format])],
    code: 'invalid_image_file',
    param: 'image',
    words: /ends before its pixels do: it was cut short/,
  })),
  {
    what: 'a mask of another size',
    files: [image, filePart('mask', otherMask)],
    code: 'invalid_image_file',
    param: 'mask',
    words: /30x40 .* 40x30/,
  },
  {
    what: 'a mask and a markup',
    files: [image, filePart('mask', mask), filePart('markup', mask)],
    code: 'invalid_parameter',
    param: 'markup',
  },
  {
    what: 'two masks',
    files: [image, filePart('mask', mask), filePart('mask', mask)],
    code: 'invalid_parameter',
    param: 'mask',
  },
  {
    what: 'a mask for a model that takes none',
    model: 'maskless-image',
    files: [image, filePart('mask', mask)],
    code: 'unsupported_parameter',
    param: 'mask',
    words: /would change the whole image/,
  },
  {
    what: 'a markup for a model that takes none',
    model: 'single-image',
    files: [image, filePart('markup', mask)],
    code: 'unsupported_parameter',
    param: 'markup',
  },
  {
    what: 'a model that makes pictures from text alone',
    model: 'words-image',
    files: [image],
    code: 'unsupported_parameter',
    param: 'image',
  },
  {
    what: 'more pictures than the model takes',
    model: 'single-image',
    files: many(2),
    code: 'unsupported_parameter',
    param: 'image',
    words: /at most one input image .* 2 were sent/,
  },
  {
    what: 'a format that the model does not read',
    model: 'png-image',
    files: [filePart('image', jpeg)],
    code: 'unsupported_parameter',
    param: 'image',
    words: /jpeg file; 'png-image' reads: png/,
  },
  {
    what: 'a file that is too large for the model',
    model: 'light-image',
    files: [image],
    code: 'unsupported_parameter',
    param: 'image',
    words: /at most 400/,
  },
  {
    what: 'an input_fidelity that the model has not',
    model: 'faithful-image',
    texts: { input_fidelity: 'high' },
    files: [image],
    code: 'unsupported_parameter',
    param: 'input_fidelity',
    words: /takes: low/,
  },
  { what: 'seventeen pictures', files: many(17), code: 'invalid_parameter', param: 'image', words: /16/ },
  {
    what: 'a text file',
    files: [filePart('image', Buffer.from('Dear Sir or Madam, this is a letter.'))],
    code: 'invalid_image_file',
    param: 'image',
  },
  {
    what: 'an empty file',
    files: [filePart('image', Buffer.alloc(0))],
    code: 'invalid_image_file',
    param: 'image',
  },
  {
    what: 'half a picture',
    files: [filePart('image', picture.subarray(0, 20))],
    code: 'invalid_image_file',
    param: 'image',
  },
  {
    what: 'a file that is neither',
    files: [image, filePart('attachment', picture)],
    code: 'invalid_parameter',
    param: 'attachment',
  },
]

for (const { what, model = 'edit-image', texts, files, code, param, words } of REFUSED) {
  test(`${what}: refused, also for who lets options be dropped`, async () => {
    for (const headers of [{}, { 'x-torana-unsupported': 'drop' }]) {
      if ('x-torana-unsupported' in headers && param === 'input_fidelity') continue
      const answer = await askForm(gateway, { model, ...texts }, files, { key: KEY, headers })
      assertImageFault(answer, code, { param, ...(words && { words }) })
    }
    await assertUntouched()
  })
}

for (const { what, bytes, words } of BOMBS) {
  test(`${what} is refused by its header`, async () => {
    const bomb = bytes()
    const asked = { url: gateway.url, key: KEY, model: 'edit-image', prompt: 'a blue bicycle' }
    const { status, text } = await sendEdit({ ...asked, pictures: [{ pieces: [bomb] }] })
    const { error } = JSON.parse(text) as { error: { code: string; param: string; message: string } }
    assert.deepEqual([status, error.code, error.param], [400, 'invalid_image_file', 'image'], text)
    assert.match(error.message.replace(/^image(\[0\])? /, '').replace(/\.$/, ''), words)
    if (bomb.length > 20 * 1024 ** 2) return
    const fields = { model: 'edit-image', images: [{ image_url: dataUrl(bomb) }] }
    assertImageFault(await askJson(gateway, fields, { key: KEY }), 'invalid_image_file', { param: 'image' })
  })
}

test('none of them left anything behind', assertUntouched)

test('a compressed body and one of another kind are refused before they are read', async () => {
  const body = formBody([...textParts({ model: 'edit-image', prompt: 'a' }), image])
  const form = `multipart/form-data; boundary=${BOUNDARY}`
  for (const [headers, sent] of [
    [{ 'content-type': form, 'content-encoding': 'gzip' }, gzipSync(body)],
    [{ 'content-type': 'application/json', 'content-encoding': 'br' }, body],
    [{ 'content-type': 'text/plain' }, body],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 'model=edit-image&prompt=a'],
    [{ 'content-type': 'image/png' }, picture],
    [{ 'content-type': 'multipart/mixed; boundary=x' }, body],
    [{ 'content-type': 'multipart/form-data' }, body],
  ] as const)
    assertImageFault(await send(gateway, sent, { headers }), 'unsupported_media_type')
  const generations = { path: IMAGES_PATH, headers: { 'content-type': form } }
  assertImageFault(await send(gateway, body, generations), 'unsupported_media_type')
  await assertUntouched()
})

for (const [what, headers, status, code] of [
  ['no key', [], 401, 'missing_api_key'],
  ['a wrong key', ['authorization: Bearer sk-nobody-has-this-key'], 401, 'invalid_api_key'],
  ['too large a body', [`authorization: Bearer ${KEY}`], 413, 'body_too_large'],
] as const) {
  test(`${what}: answered while not a byte of the body was sent`, async () => {
    const head = [
      `POST ${EDITS_PATH} HTTP/1.1`,
      'host: x',
      `content-type: multipart/form-data; boundary=${BOUNDARY}`,
      `content-length: ${500 * 1024 ** 2}`,
      ...headers,
    ]
    const answer = await sendRaw(gateway.url, [`${head.join('\r\n')}\r\n\r\n`])
    assert.equal(answer.status, status)
    assert.match(answer.body, new RegExp(`"code":"${code}"`))
    await assertUntouched()
  })
}

test('what may be dropped is dropped, and said so: the pictures and the mask stay', async () => {
  const headers = { 'x-torana-unsupported': 'drop' }
  const texts = { model: 'faithful-image', input_fidelity: 'high' }
  const answer = await askForm(gateway, texts, [image], { headers })
  await picturesIn(answer)
  assert.equal(answer.headers.get('x-torana-dropped'), 'input_fidelity')
  const entry = editsAt(provider, 'plain+key-faithful').at(-1)
  assert.deepEqual([givenTo(entry), entry?.fields?.['input_fidelity']], [digestsOf(picture), undefined])
})

test('sixteen pictures are taken', async () => {
  await picturesIn(await sendForm(gateway, [...textParts({ model: 'edit-image', prompt: 'a' }), ...many(16)]))
  assert.equal(editsAt(provider, 'plain').at(-1)?.parts?.length, 16)
})
