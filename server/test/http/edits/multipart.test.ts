/** Forms with images: what is accepted, what is refused and why, and that nothing is ever left behind. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as yieldLoop, setTimeout as delay } from 'node:timers/promises'
import type { FaultCode } from '#core/fault/fault.ts'
import { defaultLimits } from '#core/settings.ts'
import { readForm } from '#http/gateway/uploads/multipart.ts'
import type { Uploads } from '#ports/uploads.ts'
import { fuzzForms } from '#test/fuzz/multipart.fuzz.ts'
import { sendRaw } from '#test/support/raw.ts'
import { openFiles } from '#test/support/system.ts'
import {
  BOUNDARY,
  formBody,
  png,
  startFormServer,
  type FaultAnswer,
  type FormPart,
  type FormServer,
  type ReadAnswer,
} from '#test/support/forms.ts'

const PICTURE = await png()
const OTHER = await png(200, 5)
const THIRD = await png(100, 6)
const IMAGE: FormPart = { name: 'image', filename: 'a.png', type: 'image/png', value: PICTURE }
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`
const LIMITS = {
  maxEditPictures: 3,
  editFileBytes: 100_000,
  editsBodyBytes: 250_000,
  imagesBodyBytes: 20_000,
  uploadIdleMs: 400,
}
const server = await startFormServer(LIMITS)

function head(length: number, type: string | undefined = TYPE): string {
  const contentType = type === '' ? '' : `content-type: ${type}\r\n`
  return `POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${contentType}content-length: ${length}\r\n\r\n`
}

async function post(
  body: Buffer | string,
  { type, to = server }: { type?: string; to?: FormServer } = {},
): Promise<{ status: number; json: ReadAnswer & FaultAnswer }> {
  const bytes = Buffer.from(body)
  const answer = await sendRaw(to.url, [head(bytes.length, type), bytes])
  const text = Buffer.from(answer.body, 'latin1').toString()
  return { status: answer.status, json: JSON.parse(text) as ReadAnswer & FaultAnswer }
}

function part(headers: string, value = 'x'): string {
  return `--${BOUNDARY}\r\n${headers}\r\n\r\n${value}\r\n`
}
const END = `--${BOUNDARY}--\r\n`

test('pictures, mask and fields arrive whole and in order, whatever the parts say of themselves', async () => {
  const { status, json } = await post(
    formBody([
      { name: 'prompt', value: 'ein Bär 🐻 "quoted"' },
      { name: 'image[]', value: PICTURE, filename: 'x.txt', type: 'text/plain; charset=utf-16' },
      { name: 'n', value: '2', type: 'text/plain' },
      { name: 'image[]', value: OTHER },
      { name: 'mask', value: THIRD, filename: '../../etc/passwd', type: 'application/octet-stream' },
      { name: 'größe', value: '' },
    ]),
  )
  assert.equal(status, 200, JSON.stringify(json))
  assert.deepEqual(json.fields, [
    ['prompt', 'ein Bär 🐻 "quoted"'],
    ['n', '2'],
    ['größe', ''],
  ])
  const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
  assert.deepEqual(
    json.files.map(({ field, sha256, size, width }) => [field, sha256, size, width]),
    [
      ['image', digest(PICTURE), PICTURE.length, 4],
      ['image', digest(OTHER), OTHER.length, 5],
      ['mask', digest(THIRD), THIRD.length, 6],
    ],
  )
  await server.atRest()
})

const orders: [name: string, names: string[], widths: number[]][] = [
  ['as they came', ['image', 'image', 'image'], [4, 5, 6]],
  ['by their numbers, if all have one', ['image[20]', 'image[3]', 'image[0]'], [6, 5, 4]],
  ['as they came, if one has no number', ['image[2]', 'image[]', 'image[0]'], [4, 5, 6]],
]
for (const [name, names, widths] of orders) {
  test(`pictures are ordered ${name}`, async () => {
    const values = [PICTURE, OTHER, THIRD]
    const { json } = await post(
      formBody(names.map((called, index) => ({ name: called, value: values[index] as Buffer }))),
    )
    assert.deepEqual(
      json.files.map(({ width }) => width),
      widths,
    )
  })
}

test('words before the first part mean nothing, and there are not many of them', async () => {
  const form = formBody([IMAGE])
  const expected = (await post(form)).json
  for (const words of [
    '\r\n',
    '\n',
    '\n\n',
    'This is a multi-part message in MIME format.\r\n',
    `${'x'.repeat(900)}\r\n`,
  ])
    assert.deepEqual((await post(Buffer.concat([Buffer.from(words), form]))).json, expected)
  // After a bare line feed the boundary does not count: the first part would be skipped with the preamble.
  for (const words of [`${'x'.repeat(2000)}\r\n`, 'words\n']) {
    const { status, json } = await post(Buffer.concat([Buffer.from(words), form]))
    assert.equal(status, 400, JSON.stringify(json))
    assert.match(JSON.stringify(json), /does not begin with the boundary/)
  }
})

test('a form is read the same however it is cut into pieces', async () => {
  const body = formBody([IMAGE, { name: 'prompt', value: '\r\n--\r\n-' }, { name: 'mask', value: OTHER }])
  const expected = (await post(body)).json
  assert.equal(expected.files.length, 2)
  for (let size = 1; size < 40; size += 3) {
    const chunks = [`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: ${TYPE}\r\n`]
    chunks.push('transfer-encoding: chunked\r\n\r\n')
    const pieces: Buffer[] = chunks.map((text) => Buffer.from(text))
    for (let start = 0; start < body.length; start += size) {
      const piece = body.subarray(start, start + size)
      pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
    }
    pieces.push(Buffer.from('0\r\n\r\n'))
    const answer = await sendRaw(server.url, pieces)
    assert.deepEqual(JSON.parse(answer.body), expected)
  }
})

const wrong: [
  name: string,
  body: Buffer | string,
  code: FaultCode,
  param: string | undefined,
  words: RegExp,
  type?: string,
][] = [
  ['no content type', '', 'unsupported_media_type', undefined, /not multipart/, ''],
  [
    'a content type of something else',
    '{}',
    'unsupported_media_type',
    undefined,
    /not multipart/,
    'text/plain',
  ],
  [
    'another kind of multipart',
    '',
    'unsupported_media_type',
    undefined,
    /not multipart/,
    'multipart/mixed; boundary=b',
  ],
  [
    'no boundary',
    formBody([IMAGE]),
    'unsupported_media_type',
    undefined,
    /boundary of 1 to 70/,
    'multipart/form-data',
  ],
  [
    'an empty boundary',
    '',
    'unsupported_media_type',
    undefined,
    /boundary/,
    'multipart/form-data; boundary=""',
  ],
  [
    'a boundary too long',
    '',
    'unsupported_media_type',
    undefined,
    /70/,
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
  ],
  [
    'a boundary that ends in a space',
    '',
    'unsupported_media_type',
    undefined,
    /boundary/,
    'multipart/form-data; boundary="b "',
  ],
  ['no body', '', 'invalid_parameter', undefined, /ends inside a part/],
  [
    'a body with another boundary',
    formBody([IMAGE], 'other'),
    'invalid_parameter',
    undefined,
    /does not begin with the boundary/,
  ],
  [
    'a body that is no form',
    '{"prompt":"x"}',
    'invalid_parameter',
    undefined,
    /does not begin with the boundary/,
  ],
  [
    'bare line feeds',
    formBody([IMAGE]).toString('latin1').replaceAll('\r\n', '\n'),
    'invalid_parameter',
    undefined,
    /ends its lines with LF alone\. A form needs CR LF/,
  ],
  [
    'a body cut off in its last boundary',
    formBody([IMAGE]).subarray(0, -4),
    'invalid_parameter',
    undefined,
    /ends inside a part/,
  ],
  [
    'words behind the last boundary',
    `${formBody([{ name: 'n', value: '1' }]).toString()}more`,
    'invalid_parameter',
    undefined,
    /after its closing/,
  ],
  [
    'another form behind the last boundary',
    Buffer.concat([formBody([IMAGE]), formBody([IMAGE])]),
    'invalid_parameter',
    undefined,
    /after its closing/,
  ],
  [
    'a part without headers',
    `--${BOUNDARY}\r\n\r\nx\r\n${END}`,
    'invalid_parameter',
    undefined,
    /content-disposition/,
  ],
  [
    'a part that is nothing at all',
    `--${BOUNDARY}\r\n--${BOUNDARY}--\r\n`,
    'invalid_parameter',
    undefined,
    /without headers/,
  ],
  [
    'a part without a content-disposition',
    part('content-type: text/plain') + END,
    'invalid_parameter',
    undefined,
    /content-disposition/,
  ],
  [
    'two content-dispositions',
    part('content-disposition: form-data; name=a\r\ncontent-disposition: form-data; name=b') + END,
    'invalid_parameter',
    undefined,
    /content-disposition/,
  ],
  [
    'an attachment',
    part('content-disposition: attachment; name="a"') + END,
    'invalid_parameter',
    undefined,
    /not form-data/,
  ],
  ['no name', part('content-disposition: form-data') + END, 'invalid_parameter', undefined, /without a name/],
  [
    'an empty name',
    part('content-disposition: form-data; name=""') + END,
    'invalid_parameter',
    undefined,
    /without a name/,
  ],
  [
    'two names',
    part('content-disposition: form-data; name=a; name=b') + END,
    'invalid_parameter',
    undefined,
    /without a name, or with several/,
  ],
  [
    'a name without an end',
    part('content-disposition: form-data; name="a') + END,
    'invalid_parameter',
    undefined,
    /unreadable/,
  ],
  [
    'a name with a NUL',
    part('content-disposition: form-data; name="a\0b"') + END,
    'invalid_parameter',
    undefined,
    /not UTF-8 text/,
  ],
  [
    'a name that is not UTF-8',
    Buffer.from(part('content-disposition: form-data; name="\xff"') + END, 'latin1'),
    'invalid_parameter',
    undefined,
    /not UTF-8 text/,
  ],
  [
    'a name too long',
    part(`content-disposition: form-data; name="${'a'.repeat(101)}"`) + END,
    'invalid_parameter',
    undefined,
    /100 bytes/,
  ],
  [
    'a header line that is none',
    part('what\r\ncontent-disposition: form-data; name="a"') + END,
    'invalid_parameter',
    undefined,
    /content-disposition/,
  ],
  [
    'headers too long',
    part(`content-disposition: form-data; name="a"\r\nx: ${'y'.repeat(9000)}`) + END,
    'invalid_parameter',
    undefined,
    /8192 bytes of headers/,
  ],
  [
    'headers without end',
    `--${BOUNDARY}\r\nx: ${'y'.repeat(200_000)}`,
    'invalid_parameter',
    undefined,
    /8192 bytes of headers|ends inside/,
  ],
  [
    'base64 in a part',
    part('content-disposition: form-data; name="image"\r\ncontent-transfer-encoding: base64') + END,
    'invalid_parameter',
    'image',
    /Send the bytes without one/,
  ],
  [
    'a text that is not UTF-8',
    formBody([{ name: 'prompt', value: Buffer.from([0x61, 0xff]) }]),
    'invalid_parameter',
    'prompt',
    /not UTF-8/,
  ],
  [
    'a field twice',
    formBody([{ name: 'n', value: '1' }, IMAGE, { name: 'n', value: '2' }]),
    'invalid_parameter',
    'n',
    /n was sent twice/,
  ],
  [
    'too many fields',
    formBody(Array.from({ length: 65 }, (_, index) => ({ name: `f${index}`, value: '' }))),
    'invalid_parameter',
    'f64',
    /at most 64/,
  ],
  [
    'ten thousand parts',
    formBody(Array.from({ length: 10_000 }, () => ({ name: 'a', value: '' }))).subarray(0, 249_000),
    'invalid_parameter',
    'a',
    /a was sent twice/,
  ],
  [
    'too much text',
    formBody([
      { name: 'a', value: 'x'.repeat(15_000) },
      { name: 'b', value: 'x'.repeat(5_001) },
    ]),
    'body_too_large',
    'b',
    /more than 20000 bytes/,
  ],
  [
    'a file of another name',
    formBody([{ name: 'picture', filename: 'a.png', value: PICTURE }]),
    'invalid_parameter',
    'picture',
    /image, mask or markup/,
  ],
  [
    'a file of another name, its filename encoded',
    part("content-disposition: form-data; name=up; filename*=utf-8''a.png") + END,
    'invalid_parameter',
    'up',
    /is a file/,
  ],
  [
    'nested names',
    formBody([{ name: 'image[0][file]', filename: 'a.png', value: PICTURE }]),
    'invalid_parameter',
    'image[0][file]',
    /is a file/,
  ],
  [
    'more pictures than allowed',
    formBody([IMAGE, IMAGE, IMAGE, IMAGE]),
    'invalid_parameter',
    'image',
    /at most 3/,
  ],
  [
    'a number twice',
    formBody([
      { ...IMAGE, name: 'image[1]' },
      { ...IMAGE, name: 'image[01]' },
    ]),
    'invalid_parameter',
    'image[01]',
    /was sent twice/,
  ],
  [
    'two masks',
    formBody([
      { ...IMAGE, name: 'mask' },
      { ...IMAGE, name: 'mask[]' },
    ]),
    'invalid_parameter',
    'mask',
    /was sent twice/,
  ],
  [
    'two markups',
    formBody([
      { ...IMAGE, name: 'markup' },
      { ...IMAGE, name: 'markup' },
    ]),
    'invalid_parameter',
    'markup',
    /was sent twice/,
  ],
  ['an empty picture', formBody([{ ...IMAGE, value: '' }]), 'invalid_image_file', 'image', /image is empty/],
  [
    'an empty mask',
    formBody([IMAGE, { name: 'mask', filename: '', value: '' }]),
    'invalid_image_file',
    'mask',
    /mask is empty/,
  ],
  [
    'words for a picture',
    formBody([{ name: 'image', value: 'a text and no picture at all' }]),
    'invalid_image_file',
    'image',
    /^image /,
  ],
  [
    'the second picture broken',
    formBody([IMAGE, { ...IMAGE, value: PICTURE.subarray(0, 20) }]),
    'invalid_image_file',
    'image',
    /^image\[1\] /,
  ],
  [
    'a file too large',
    formBody([{ ...IMAGE, value: Buffer.concat([PICTURE, Buffer.alloc(100_000)]) }]),
    'body_too_large',
    'image',
    /larger than 100000 bytes/,
  ],
]
for (const [name, body, code, param, words, type] of wrong) {
  test(`refused: ${name}`, async () => {
    const { status, json } = await post(body, type === undefined ? {} : { type })
    assert.equal(json.code, code, JSON.stringify(json))
    assert.equal(json.param, param)
    assert.match(json.message, words)
    assert.ok(status >= 400 && status < 500)
    await server.atRest()
  })
}

test('a body that is announced too large is refused before it is sent', async () => {
  const answer = await sendRaw(server.url, [head(LIMITS.editsBodyBytes + 1)])
  assert.equal(answer.status, 413)
  await server.atRest()
})

test('a body that turns out too large is refused as soon as it is', async () => {
  const big = Buffer.concat([PICTURE, Buffer.alloc(90_000)])
  const body = formBody([1, 2, 3].map((): FormPart => ({ ...IMAGE, value: big })))
  assert.ok(body.length > LIMITS.editsBodyBytes)
  const start = `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: ${TYPE}\r\ntransfer-encoding: chunked\r\n\r\n`
  const answer = await sendRaw(server.url, [start, `${body.length.toString(16)}\r\n`, body])
  assert.equal(answer.status, 413)
  assert.match(answer.body, /The body is larger than 250000 bytes/)
  await server.atRest()
})

test('an upload that stands still is given up', async () => {
  const body = formBody([IMAGE])
  const answer = await sendRaw(server.url, [head(body.length), body.subarray(0, 150)])
  assert.equal(answer.status, 408)
  assert.match(answer.body, /sent nothing for 400 ms/)
  await server.atRest()
})

test('a connection is used again after a form, and after one that was refused at its end', async () => {
  const good = formBody([IMAGE])
  const bad = formBody([IMAGE, { name: 'n', value: '1' }, { name: 'n', value: '1' }])
  const open = (length: number): string => head(length).replace('connection: close\r\n', '')
  const answer = await sendRaw(server.url, [
    open(good.length),
    good,
    open(bad.length),
    bad,
    head(good.length),
    good,
  ])
  assert.deepEqual(
    [...answer.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ['200', '400', '200'],
  )
})

test('a form that comes byte by byte is given up', async () => {
  const to = await startFormServer({ uploadIdleMs: 300 })
  const { port } = new URL(to.url)
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
  socket.write(head(1_000_000))
  const trickle = setInterval(() => socket.write('\r'), 40)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'close')
  clearInterval(trickle)
  assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 408 [\s\S]*less than 1 KB a second/)
})

/** Opens a connection, sends, and leaves silently. */
async function sendAndLeave(to: FormServer, bytes: Buffer, how: 'reset' | 'end'): Promise<void> {
  const { port } = new URL(to.url)
  const socket: Socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.resume()
  if (how === 'reset') socket.resetAndDestroy()
  else socket.end()
  await closed
}

test('a sender that leaves, at whichever byte, leaves no file, no handle and no waiting request', async () => {
  const to = await startFormServer({ uploadIdleMs: 30_000 })
  const noise = Buffer.from(Array.from({ length: 1500 }, (_, index) => (index * 89) % 256))
  const body = formBody([
    { name: 'model', value: 'm' },
    { ...IMAGE, value: Buffer.concat([PICTURE, noise]) },
    { name: 'mask', value: OTHER },
    { name: 'prompt', value: 'a bear' },
  ])
  assert.ok(body.length > 2000, `${body.length}`)
  const bytes = Buffer.concat([Buffer.from(head(body.length)), body])
  const bodyStart = bytes.length - body.length
  const AT_ONCE = 64
  const filesBefore = openFiles()
  for (let start = bodyStart; start < bytes.length; start += AT_ONCE) {
    const ends = Array.from({ length: Math.min(AT_ONCE, bytes.length - start) }, (_, index) => start + index)
    await Promise.all(
      ends.map((end) => sendAndLeave(to, bytes.subarray(0, end), end % 2 === 0 ? 'reset' : 'end')),
    )
  }
  await to.atRest()
  assert.ok(!to.outcomes.includes('form'))
  const codes = to.outcomes.map((outcome) => (outcome === 'form' ? 'form' : outcome.code))
  const cut = codes.filter((code) => code === 'request_timeout')
  assert.ok(cut.length > body.length / 2, `${cut.length} of ${body.length} were told as cut off`)
  for (let waited = 0; openFiles() > filesBefore; waited += 1) {
    assert.ok(waited < 500, `${filesBefore} open files before, ${openFiles()} after`)
    await delay(20)
  }
})

test('fifteen hundred forms, most of them broken, end as a form or a fault of the caller’s', async () => {
  const { passed, failures, forms, faults } = await fuzzForms({ cases: 1500, seed: 1_000_000 })
  assert.deepEqual(failures, [])
  assert.equal(passed, 1500)
  // Otherwise it would pass vacuously.
  assert.ok(forms > 250 && Object.keys(faults).length >= 5, JSON.stringify({ forms, faults }))
})

test('a sender is read no faster than the disk takes its bytes', async () => {
  const { promise: mayWrite, resolve: letWrite } = Promise.withResolvers<void>()
  let written = 0
  const uploads: Uploads = {
    create: async () => ({
      async write(chunk) {
        await mayWrite
        written += chunk.length
      },
      finish: async () => ({
        sha256: '',
        size: written,
        open: async function* () {},
        discard: async () => {},
      }),
      discard: async () => {},
    }),
  }
  const picture = Buffer.concat([PICTURE, Buffer.alloc(20_000_000)])
  const body = formBody([{ name: 'image', value: picture }])
  const pieces = Array.from({ length: Math.ceil(body.length / 60_000) }, (_, index) =>
    body.subarray(index * 60_000, (index + 1) * 60_000),
  )
  let handedOut = 0
  const request = Readable.from(
    (async function* () {
      for (const piece of pieces) {
        handedOut += piece.length
        yield piece
      }
    })(),
    { objectMode: false },
  )
  const message = Object.assign(request, { headers: { 'content-type': TYPE } }) as unknown as IncomingMessage
  const reading = readForm(message, { uploads, limits: defaultLimits, yieldOnArrival: yieldLoop })
  await delay(100)
  assert.ok(handedOut < 500_000, `${handedOut} bytes were read while the disk took none`)
  letWrite()
  assert.equal((await reading).files[0]?.upload.size, picture.length)
})
