import { setImmediate as yieldLoop } from 'node:timers/promises'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { ImageFormat } from '#core/catalog/catalog.ts'
import type {
  EditCall,
  GivenPicture,
  ImageAnswer,
  ImageCall,
  ImageUpstream,
  Preview,
} from '#ports/image-upstream.ts'
import { anImageCall, anImageDeployment, type ImageOverrides } from '#test/support/images.ts'
import { streamed } from '#test/support/streamed.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import { UpstreamHttp } from '../connect/http.ts'
import { imageRegistry } from '../image-registry.ts'
import { GuardedPictureFetcher } from '../connect/picture-fetch.ts'

interface Sent {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

interface Reply {
  readonly status?: number
  readonly type?: string
  readonly body: string
}

const PICTURE = randomBytes(5_000)
const MADE: Reply = { body: JSON.stringify({ created: 1, data: [{ b64_json: PICTURE.toString('base64') }] }) }
let reply = MADE
let sent: Sent | undefined

/** Records what it was sent, and answers what the test says. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    sent = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) }
    response.writeHead(reply.status ?? 200, { 'content-type': reply.type ?? 'application/json' })
    response.end(reply.body)
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
const http = new UpstreamHttp({ connectTimeoutMs: 5_000, answerBytes: 1_000_000, yieldOnSending: yieldLoop })
const unused: ImageUpstream = { generate: () => Promise.reject(new Error('not asked')) }
const images = imageRegistry(http, {
  fetcher: new GuardedPictureFetcher({ connectTimeoutMs: 5_000 }),
  answerBytes: 20_000_000,
  others: { 'ai-sdk': unused, demo: unused },
})
after(async () => {
  await http.close()
  server.close()
})

function picture(bytes: Buffer, format: ImageFormat = 'png'): GivenPicture {
  const chunks = [bytes.subarray(0, 1_000), bytes.subarray(1_000)]
  return { kind: 'bytes', format, ...streamed(chunks) }
}

const FIRST = randomBytes(200_000)
const SECOND = randomBytes(99_999)
const MASK = randomBytes(3_001)

function aCall(
  edit: Partial<EditCall> | undefined,
  call: Partial<ImageCall> = {},
  overrides: ImageOverrides = {},
): ImageCall {
  return anImageCall({
    prompt: 'a gate,\r\nat "dusk"',
    edit: edit && {
      pictures: [picture(FIRST)],
      mask: undefined,
      markup: undefined,
      fidelity: undefined,
      body: 'multipart',
      ...edit,
    },
    ...call,
    deployment: anImageDeployment({
      ...overrides,
      upstream: { baseUrl, ...overrides.upstream },
    }),
  })
}

async function run(call: ImageCall): Promise<{ answer: ImageAnswer; previews: Preview[]; sent: Sent }> {
  sent = undefined
  const previews: Preview[] = []
  const answer = await images.generate(call, {
    submitted: () => Promise.reject(new Error('nothing is polled on this wire')),
    partial: (preview) => previews.push(preview),
  })
  assert.ok(sent !== undefined)
  return { answer, previews, sent }
}

async function formIn({ headers, body }: Sent): Promise<[string, string | File][]> {
  const type = { 'content-type': headers['content-type'] ?? '' }
  return [...(await new Response(new Uint8Array(body), { headers: type }).formData()).entries()]
}

const bytesOf = async (file: string | File | undefined): Promise<Buffer> => {
  assert.ok(file instanceof File)
  return Buffer.from(await file.arrayBuffer())
}

const ASKED: Partial<ImageCall> = {
  images: 2,
  size: { width: 1024, height: 1536 },
  quality: 'high',
  background: 'opaque',
  moderation: 'low',
  format: 'webp',
  compression: 80,
  user: 'user-1',
  safetyIdentifier: 'safe-1',
  partialImages: 2,
  extraFields: { style: 'vivid', seed: 7, nested: { a: [1, null] }, flag: false },
}

test('a form says everything that JSON says of a generation, in text', async () => {
  const generation = await run(aCall(undefined, ASKED))
  const fields = JSON.parse(generation.sent.body.toString()) as Record<string, unknown>
  assert.equal(generation.sent.path, '/v1/images/generations')
  const edit = await run(aCall({ fidelity: 'high' }, ASKED))
  const entries = await formIn(edit.sent)
  assert.equal(edit.sent.path, '/v1/images/edits')
  const expected = Object.entries({ ...fields, input_fidelity: 'high' }).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  )
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  assert.deepEqual(new Map(texts), new Map(expected))
  assert.equal(texts.length, expected.length)
  const said = new Map(texts)
  assert.deepEqual(
    ['prompt', 'n', 'stream', 'partial_images', 'flag', 'nested'].map((name) => said.get(name)),
    ['a gate,\r\nat "dusk"', '2', 'true', '2', 'false', '{"a":[1,null]}'],
  )
})

test('what is not asked for is not in the form', async () => {
  const entries = await formIn((await run(aCall({}))).sent)
  assert.deepEqual(
    entries.map(([name]) => name),
    ['model', 'prompt', 'image'],
  )
})

test('base64 is asked for in a form too, where an address would come unasked', async () => {
  const { sent: asked } = await run(aCall({}, {}, { capabilities: { forms: ['url', 'b64_json'] } }))
  assert.equal(new Map(await formIn(asked)).get('response_format'), 'b64_json')
})

test('one picture is `image`, bit by bit as it was given', async () => {
  const { sent: asked, answer } = await run(aCall({ pictures: [picture(FIRST, 'jpeg')] }))
  const [name, file] = (await formIn(asked)).at(-1) ?? []
  assert.ok(file instanceof File)
  assert.deepEqual([name, file.name, file.type], ['image', 'image-1.jpeg', 'image/jpeg'])
  assert.ok((await bytesOf(file)).equals(FIRST))
  assert.equal(asked.headers['content-length'], String(asked.body.length))
  assert.equal(asked.headers['transfer-encoding'], undefined)
  assert.equal(asked.headers['authorization'], 'Bearer test-key-0001')
  assert.equal(asked.headers['x-torana-call-id'], 'call-1')
  assert.ok(Buffer.from(answer.pictures[0]?.bytes ?? []).equals(PICTURE))
})

test('several pictures are `image[]` in their order, then the mask and the markup', async () => {
  const pictures = [picture(FIRST), picture(SECOND, 'webp')]
  const { sent: asked } = await run(aCall({ pictures, mask: picture(MASK), markup: picture(SECOND) }))
  const files = (await formIn(asked)).filter(([, value]) => value instanceof File)
  assert.deepEqual(
    files.map(([name, file]) => [name, (file as File).name]),
    [
      ['image[]', 'image-1.png'],
      ['image[]', 'image-2.webp'],
      ['mask', 'mask.png'],
      ['markup', 'markup.png'],
    ],
  )
  for (const [index, bytes] of [FIRST, SECOND, MASK, SECOND].entries())
    assert.ok((await bytesOf(files[index]?.[1])).equals(bytes))
})

test('several pictures are called as the deployment wants it, a single one is always `image`', async () => {
  const edits = {
    maxInputs: 4,
    inputFormats: ['png', 'webp'],
    mask: undefined,
    markup: false,
    fidelities: [],
    bodies: ['multipart'],
    maxFileBytes: 1e6,
    imageField: 'image',
  } as const
  const namesOf = async (pictures: readonly GivenPicture[]): Promise<string[]> => {
    const { sent: asked } = await run(aCall({ pictures }, {}, { capabilities: { edits } }))
    return (await formIn(asked)).flatMap(([name, value]) => (value instanceof File ? [name] : []))
  }
  assert.deepEqual(await namesOf([picture(FIRST), picture(SECOND, 'webp')]), ['image', 'image'])
  assert.deepEqual(await namesOf([picture(FIRST)]), ['image'])
})

test('JSON carries pictures as data URLs, and addresses as they are', async () => {
  const url = 'https://pictures.example/a.png?sig=a%2Fb&x="1"'
  const call = aCall(
    {
      body: 'json',
      pictures: [picture(FIRST), { kind: 'address', url }, picture(SECOND, 'jpeg')],
      mask: picture(MASK),
      markup: { kind: 'address', url },
      fidelity: 'low',
    },
    ASKED,
  )
  const { sent: asked } = await run(call)
  const generation = await run(aCall(undefined, ASKED))
  assert.equal(asked.headers['content-type'], 'application/json')
  assert.equal(asked.headers['content-length'], String(asked.body.length))
  assert.deepEqual(JSON.parse(asked.body.toString()), {
    ...(JSON.parse(generation.sent.body.toString()) as object),
    input_fidelity: 'low',
    images: [
      { image_url: `data:image/png;base64,${FIRST.toString('base64')}` },
      { image_url: url },
      { image_url: `data:image/jpeg;base64,${SECOND.toString('base64')}` },
    ],
    mask: { image_url: `data:image/png;base64,${MASK.toString('base64')}` },
    markup: { image_url: url },
  })
})

test('a form has no place for an address: nothing is sent', async () => {
  const address = { kind: 'address', url: 'https://pictures.example/a.png' } as const
  for (const edit of [{ pictures: [address] }, { mask: address }, { markup: address }]) {
    const failure = await upstreamFailureOf(run(aCall(edit)))
    assert.deepEqual([failure.kind, failure.detail.charge, sent], ['refused', 'none', undefined])
  }
})

test('an unknown field can’t take the place of a picture', async () => {
  for (const field of ['image', 'image[]', 'images', 'mask', 'markup']) {
    for (const body of ['multipart', 'json'] as const) {
      const failure = await upstreamFailureOf(run(aCall({ body }, { extraFields: { [field]: 'x' } })))
      assert.deepEqual([failure.kind, failure.mayBeCharged, sent], ['refused', false, undefined])
    }
  }
})

for (const [apiVersion, path] of [
  ['v1', '/openai/v1/images/edits?api-version=v1'],
  ['2025-04-01-preview', '/openai/deployments/image-1/images/edits?api-version=2025-04-01-preview'],
]) {
  test(`Azure is asked for an edit its own way, version ${apiVersion}`, async () => {
    const upstream = { dialect: 'azure', baseUrl: new URL(baseUrl).origin, apiVersion } as const
    const { sent: asked } = await run(aCall({}, {}, { upstream }))
    assert.deepEqual([asked.path, asked.headers['api-key']], [path, 'test-key-0001'])
    assert.match(asked.headers['content-type'] ?? '', /^multipart\/form-data; boundary=torana-[0-9a-f]{32}$/)
  })
}

test('an operator’s own headers are sent, but the kind of content is the form’s', async () => {
  const upstream = { headers: { 'x-team': 'red', 'Content-Type': 'application/json' } }
  const { sent: asked } = await run(aCall({}, {}, { upstream }))
  assert.equal(asked.headers['x-team'], 'red')
  assert.match(asked.headers['content-type'] ?? '', /^multipart\/form-data/)
})

for (const prefix of ['image_edit', 'image_generation']) {
  test(`a stream of ${prefix} events brings previews, then the picture`, async () => {
    const base64 = PICTURE.toString('base64')
    const event = (name: string, fields: object): string =>
      `event: ${prefix}.${name}\ndata: ${JSON.stringify({ type: `${prefix}.${name}`, b64_json: base64, ...fields })}\n\n`
    reply = {
      type: 'text/event-stream',
      body:
        event('partial_image', { partial_image_index: 0, size: '64x64' }) +
        event('completed', {
          usage: { input_tokens: 5, input_tokens_details: { text_tokens: 2, image_tokens: 3 } },
        }),
    }
    const { answer, previews } = await run(aCall({}, { partialImages: 1 })).finally(() => (reply = MADE))
    assert.ok(Buffer.from(previews[0]?.bytes ?? []).equals(PICTURE))
    assert.deepEqual([previews.length, previews[0]?.index, previews[0]?.echoes], [1, 0, { size: '64x64' }])
    assert.ok(Buffer.from(answer.pictures[0]?.bytes ?? []).equals(PICTURE))
    assert.deepEqual([answer.tokens.textInput, answer.tokens.imageInput], [2, 3])
  })
}

test('what an upstream says against an edit is named as ever', async () => {
  const error = { type: 'image_generation_user_error', code: 'moderation_blocked', message: 'no' }
  reply = { status: 400, body: JSON.stringify({ error }) }
  const failure = await upstreamFailureOf(run(aCall({})).finally(() => (reply = MADE)))
  assert.deepEqual(
    [failure.kind, failure.detail.status, failure.mayBeCharged],
    ['contentRefused', 400, false],
  )
})

test('files that can’t be read cost nothing, and may be tried elsewhere', async () => {
  const lost: GivenPicture = {
    kind: 'bytes',
    format: 'png',
    size: 100_000,
    async *open() {
      yield new Uint8Array(1_000)
      throw new Error('EIO /secret/path')
    },
  }
  for (const body of ['multipart', 'json'] as const) {
    const failure = await upstreamFailureOf(run(aCall({ body, pictures: [lost] })))
    assert.equal(failure.kind, 'unreachable')
    assert.deepEqual([failure.mayBeCharged, failure.mayTryAnother], [false, true])
    assert.ok(!failure.message.includes('secret'))
  }
})

test('nothing was charged where only a part of the files was sent', async () => {
  const cutting = createServer((request) => request.once('data', () => request.socket.destroy()))
  await new Promise<void>((resolve) => cutting.listen(0, '127.0.0.1', resolve))
  const upstream = { baseUrl: `http://127.0.0.1:${(cutting.address() as AddressInfo).port}/v1` }
  const chunk = new Uint8Array(65_536)
  const large: GivenPicture = {
    kind: 'bytes',
    format: 'png',
    ...streamed(Array.from({ length: 1_000 }, () => chunk)),
  }
  const failure = await upstreamFailureOf(run(aCall({ pictures: [large] }, {}, { upstream })))
  assert.deepEqual([failure.kind, failure.mayBeCharged], ['unreachable', false])
  cutting.close()
})
