import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ImageFormat } from '#core/catalog/catalog.ts'
import type { EditCall, GivenBytes, ImageCall, ImageEvents } from '#ports/image-upstream.ts'
import { imageCallOf } from '#test/support/ai-sdk-images.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import { eventually } from '#test/support/process.ts'
import { makeFetch } from '../connect/fetch.ts'
import { GuardedPictureFetcher } from '../connect/picture-fetch.ts'
import type { LoadedCall } from './image-edit.ts'
import { aiSdkImageExchange } from './image-exchange.ts'
import { aiSdkImage } from './image.ts'
import { aiSdkThread } from './thread.ts'

const MADE = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1, 2, 3])
const base64 = MADE.toBase64()

type Body = Readonly<Record<string, unknown>>

/** What one wire carries of an edit, and what it answers. */
interface Wire {
  readonly title: string
  readonly provider: string
  readonly model: string
  /** The catalog's value, where it matters. */
  readonly maxInputs?: number
  /** Images that it carries; undefined for any number. */
  readonly most?: number
  /** The images in its body, in order. */
  pictures(body: Body): unknown[]
  /** The mask in its body; undefined when it carries none. */
  readonly mask?: (body: Body) => unknown
  readonly noAddresses?: true
  readonly noBytes?: true
  /** Base64 alone, without the media type. */
  readonly bare?: true
  submitted(url: string): unknown
  /** The answer to a poll after the submit. */
  readonly polled?: (url: string) => unknown
  /** Its submit is recorded, and can be resumed. */
  readonly resumes?: true
}

const inBody = (body: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body)
const numbered =
  (name: string) =>
  (body: Body): unknown[] =>
    Array.from({ length: 12 }, (_, at) => body[at === 0 ? name : `${name}_${at + 1}`]).filter(Boolean)
const field =
  (...path: string[]) =>
  (body: Body): unknown[] =>
    [inBody(body, ...path)].flat().filter(Boolean)

const gemini = {
  pictures: (body: Body) =>
    (inBody(body, 'contents', 0, 'parts') as Record<string, unknown>[])
      .map((part) => part['inlineData'] as { mimeType: string; data: string } | undefined)
      .flatMap((inline) => (inline ? [`data:${inline.mimeType};base64,${inline.data}`] : [])),
  submitted: () => ({
    candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: base64 } }] } }],
  }),
  noAddresses: true,
} as const
const flux = {
  provider: 'black-forest-labs',
  submitted: (url: string) => ({ id: 'job-1', polling_url: `${url}/poll?id=job-1` }),
  polled: (url: string) => ({ id: 'job-1', status: 'Ready', result: { sample: `${url}/made.png` } }),
  bare: true,
  resumes: true,
} as const
const bedrock = {
  provider: 'amazon-bedrock',
  pictures: (body: Body) =>
    field('imageVariationParams', 'images')(body).concat(field('inPaintingParams', 'image')(body)),
  mask: (body: Body) => inBody(body, 'inPaintingParams', 'maskImage'),
  submitted: () => ({ images: [base64] }),
  noAddresses: true,
  bare: true,
} as const
const fal = {
  provider: 'fal',
  mask: (body: Body) => body['mask_url'],
  submitted: (url: string) => ({ images: [{ url: `${url}/made.png` }] }),
  resumes: true,
} as const
const replicate = {
  provider: 'replicate',
  submitted: (url: string) => ({ status: 'starting', output: null, urls: { get: `${url}/poll` } }),
  polled: (url: string) => ({
    status: 'succeeded',
    output: [`${url}/made.png`],
    urls: { get: `${url}/poll` },
  }),
  resumes: true,
} as const

const wires: readonly Wire[] = [
  { title: 'Google', provider: 'google', model: 'gemini-2.5-flash-image', ...gemini },
  { title: 'Vertex', provider: 'google-vertex', model: 'gemini-3-pro-image', ...gemini },
  { title: 'Bedrock Nova Canvas', model: 'amazon.nova-canvas-v1:0', ...bedrock },
  { title: 'Bedrock Titan', model: 'amazon.titan-image-generator-v2:0', ...bedrock },
  {
    title: 'Black Forest Labs',
    model: 'flux-kontext-pro',
    most: 10,
    pictures: numbered('input_image'),
    ...flux,
  },
  {
    title: 'Black Forest Labs Fill',
    model: 'flux-pro-1.0-fill',
    most: 1,
    pictures: numbered('image'),
    mask: (body) => body['mask'],
    ...flux,
  },
  { title: 'fal, one', model: 'fal-ai/flux-pro/kontext', most: 1, pictures: field('image_url'), ...fal },
  { title: 'fal, several', model: 'fal-ai/flux-2/edit', maxInputs: 4, pictures: field('image_urls'), ...fal },
  {
    title: 'Replicate',
    model: 'black-forest-labs/flux-fill-pro',
    most: 1,
    pictures: (body) => numbered('image')(body['input'] as Body),
    mask: (body) => inBody(body, 'input', 'mask'),
    ...replicate,
  },
  {
    title: 'Replicate FLUX.2',
    model: 'black-forest-labs/flux-2-pro',
    most: 8,
    pictures: (body) => numbered('input_image')(body['input'] as Body),
    ...replicate,
  },
  {
    title: 'Fireworks Kontext',
    provider: 'fireworks',
    model: 'accounts/fireworks/models/flux-kontext-pro',
    most: 1,
    pictures: field('input_image'),
    submitted: () => ({ request_id: 'job-1' }),
    polled: flux.polled,
    resumes: true,
  },
  {
    title: 'Fireworks, from text alone',
    provider: 'fireworks',
    model: 'accounts/fireworks/models/flux-1-schnell-fp8',
    most: 0,
    pictures: field('input_image'),
    submitted: () => ({}),
  },
  {
    title: 'Together',
    provider: 'togetherai',
    model: 'black-forest-labs/FLUX.1-kontext-pro',
    most: 1,
    pictures: field('image_url'),
    submitted: () => ({ data: [{ b64_json: base64 }] }),
  },
  {
    title: 'xAI',
    provider: 'xai',
    model: 'grok-imagine-image',
    pictures: (body) =>
      [body['image'] ?? body['images']].flat().map((image) => (image as { url: string }).url),
    submitted: () => ({ data: [{ b64_json: base64 }] }),
  },
  {
    title: 'Luma',
    provider: 'luma',
    model: 'photon-1',
    most: 1,
    pictures: field('modify_image_ref', 'url'),
    noBytes: true,
    submitted: () => ({ id: 'job-1', state: 'queued' }),
    polled: (url) => ({ id: 'job-1', state: 'completed', assets: { image: `${url}/made.png` } }),
    resumes: true,
  },
]

/** One upstream for all wires; the first segment of a path identifies the wire. */
const submits: { readonly wire: number; readonly body: Body }[] = []
const isPoll = (path: string): boolean => /\/(poll(\?.*)?|get_result|generations\/job-1)$/.test(path)
const server = createServer((request, response) => {
  const [, at = '', path = ''] = /^\/(\d+)(\/.*)$/.exec(request.url ?? '') ?? []
  const wire = wires[Number(at)] ?? assert.fail(request.url)
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const base = `${url}/${at}`
    if (path === '/made.png') {
      response.writeHead(200, { 'content-type': 'image/png' }).end(MADE)
      return
    }
    if (!isPoll(path)) {
      submits.push({ wire: Number(at), body: JSON.parse(Buffer.concat(chunks).toString()) as Body })
    }
    const answer = isPoll(path) ? wire.polled?.(base) : wire.submitted(base)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
})
let url = ''
before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

const fetchOptions = { connectTimeoutMs: 1000, answerBytes: 64 * 1024 * 1024 }
const limits = { pollIntervalMs: 5, pictureBytes: 1024 * 1024 }
const upstream = aiSdkImage({ ...fetchOptions, pollIntervalMs: 5 })
const quiet: ImageEvents = { submitted: async () => {}, partial: () => assert.fail('a preview') }

const submitsTo = (wire: Wire): Body[] =>
  submits.filter((entry) => wires[entry.wire] === wire).map(({ body }) => body)

/** The body that an edit is submitted with. */
async function bodyOf(wire: Wire, edit: Partial<EditCall>): Promise<Body> {
  const answer = await upstream.generate(callTo(wire, edit), quiet)
  assert.deepEqual(answer.pictures[0]?.bytes, MADE)
  return submitsTo(wire).at(-1) ?? assert.fail()
}

function callTo(wire: Wire, edit: Partial<EditCall>): ImageCall {
  const call = imageCallOf(wire.provider, wire.model, `${url}/${wires.indexOf(wire)}`)
  const { deployment } = call
  const edits = {
    maxInputs: wire.maxInputs ?? 1,
    inputFormats: ['png'] as const,
    mask: undefined,
    markup: false,
    fidelities: [],
    bodies: [],
    maxFileBytes: 1e6,
  }
  return {
    ...call,
    deployment: { ...deployment, capabilities: { ...deployment.capabilities, edits } },
    edit: {
      pictures: [],
      mask: undefined,
      markup: undefined,
      fidelity: undefined,
      body: 'multipart',
      ...edit,
    },
  }
}

/** A file, and how often it was opened. */
interface File extends GivenBytes {
  readonly bytes: Uint8Array
  opened: number
}

function aFile(format: ImageFormat = 'png'): File {
  const bytes = randomBytes(5000)
  return {
    kind: 'bytes',
    format,
    size: bytes.length,
    bytes,
    opened: 0,
    async *open() {
      this.opened += 1
      yield bytes.subarray(0, 3000)
      yield bytes.subarray(3000)
    },
  }
}

const sumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
/** Media type and digest on the wire. */
function arrived(text: unknown): string {
  assert.ok(typeof text === 'string')
  const [, type = '', data = ''] = /^(?:data:(.*?);base64,)?(.*)$/.exec(text) ?? []
  return `${type} ${sumOf(Uint8Array.fromBase64(data))}`
}
const sent = (file: File, { bare }: Wire): string =>
  `${bare ? '' : `image/${file.format}`} ${sumOf(file.bytes)}`
const FORMATS = ['png', 'jpeg', 'webp'] as const
const several = (count: number): File[] => Array.from({ length: count }, (_, at) => aFile(FORMATS[at % 3]))
const named = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => ({ kind: 'address', url: `https://pictures.example/${at}.png` }) as const,
  )

async function refused(wire: Wire, edit: Partial<EditCall>, param: string): Promise<void> {
  const before = submitsTo(wire).length
  const failure = await upstreamFailureOf(upstream.generate(callTo(wire, edit), quiet))
  assert.deepEqual([failure.kind, failure.detail.param, failure.mayBeCharged], ['refused', param, false])
  assert.equal(submitsTo(wire).length, before)
  const given = [...(edit.pictures ?? []), edit.mask, edit.markup]
  assert.ok(given.every((picture) => !picture || !('opened' in picture) || picture.opened === 0))
}

for (const wire of wires) {
  const { most = 3 } = wire
  describe(`${wire.title} with pictures to edit`, () => {
    for (const count of new Set([Math.min(1, most), most])) {
      if (count === 0 || wire.noBytes) continue
      it(`${count} arrive as they were given, in their order`, async () => {
        const pictures = several(count)
        const body = await bodyOf(wire, { pictures })
        const given = pictures.map((file) => sent(file, wire))
        assert.deepEqual(wire.pictures(body).map(arrived), given)
        assert.ok(pictures.every(({ opened }) => opened === 1))
      })
    }

    if (wire.mask !== undefined)
      it('a mask arrives as it was given', async () => {
        const [picture = assert.fail(), mask = assert.fail()] = several(2)
        const body = await bodyOf(wire, { pictures: [picture], mask })
        assert.deepEqual(wire.pictures(body).map(arrived), [sent(picture, wire)])
        assert.equal(arrived(wire.mask?.(body)), sent(mask, wire))
      })

    if (!wire.noAddresses && most > 0)
      it('addresses arrive as they were given', async () => {
        const pictures = named(most)
        const given = pictures.map(({ url }) => url)
        assert.deepEqual(wire.pictures(await bodyOf(wire, { pictures })), given)
      })

    const { most: limit, noBytes = false, noAddresses = false, mask } = wire
    const pictures = several(1)
    const refusals: readonly (readonly [what: string, param: string, boolean, Partial<EditCall>])[] = [
      ['more than it carries', 'image', limit !== undefined && !noBytes, { pictures: several(most + 1) }],
      ['files', 'image', noBytes, { pictures }],
      ['addresses', 'image', noAddresses, { pictures: named(1) }],
      ['a mask', 'mask', mask === undefined, { pictures, mask: aFile() }],
      ['markup', 'markup', true, { pictures, markup: aFile() }],
      ['fidelity', 'input_fidelity', true, { pictures, fidelity: 'high' }],
    ]
    for (const [what, param, isRefused, edit] of refusals)
      if (isRefused) it(`refused, and not read: ${what}`, () => refused(wire, edit, param))

    if (wire.resumes) {
      it('after a crash the picture comes without a second submit, and without the files', async () => {
        const call = callTo(wire, { pictures: wire.noBytes ? named(1) : several(1) })
        const { promise, resolve } = Promise.withResolvers<string>()
        await upstream.generate(call, { ...quiet, submitted: async (text) => resolve(text) })
        const submitted = await promise
        const before = submitsTo(wire).length
        const lost: GivenBytes = {
          kind: 'bytes',
          format: 'png',
          size: 5000,
          open: () => assert.fail('a file that is gone'),
        }
        const mask = wire.mask && lost
        const resumed = { ...callTo(wire, { pictures: [lost], mask }), submitted }
        const answer = await upstream.generate(resumed, quiet)
        assert.deepEqual(answer.pictures[0]?.bytes, MADE)
        assert.equal(submitsTo(wire).length, before)
      })
    }
  })
}

const wireOf = (title: string): Wire => wires.find((wire) => wire.title === title) ?? assert.fail(title)

it('Bedrock paints into one picture: a mask beside several is refused', () =>
  refused(wireOf('Bedrock Nova Canvas'), { pictures: several(2), mask: aFile() }, 'image'))

const exchange = aiSdkImageExchange({
  ...limits,
  fetch: makeFetch(fetchOptions),
  pictures: new GuardedPictureFetcher(fetchOptions),
})
const notRecorded = (): Promise<void> => Promise.resolve()

function inMemory(wire: Wire, pictures: readonly Uint8Array<ArrayBuffer>[]): LoadedCall {
  const edit = {
    pictures: pictures.map((bytes) => ({ kind: 'bytes', format: 'png', bytes }) as const),
    mask: undefined,
  }
  return { ...callTo(wire, {}), edit }
}

describe('a wire of one picture that is given two', () => {
  for (const [title, mayBeCharged] of [
    ['Together', false],
    ['Fireworks Kontext', true],
    ['Replicate', true],
    ['fal, one', true],
  ] as const) {
    it(`${title}: is not believed to have sent all`, async () => {
      const call = inMemory(wireOf(title), [new Uint8Array(10), new Uint8Array(10)])
      const failure = await upstreamFailureOf(exchange(call, notRecorded))
      assert.deepEqual([failure.kind, failure.mayBeCharged], ['refused', mayBeCharged])
    })
  }
})

describe('memory', () => {
  it('pictures are handed to the thread, not copied', async () => {
    const thread = aiSdkThread({ ...fetchOptions, images: limits })
    const bytes = new Uint8Array(randomBytes(5000))
    const before = sumOf(bytes)
    const made = thread.generate(inMemory(wireOf('xAI'), [bytes]), notRecorded)
    assert.equal(bytes.length, 0)
    await made
    const [picture] = wireOf('xAI').pictures(submitsTo(wireOf('xAI')).at(-1) ?? assert.fail())
    assert.equal(arrived(picture), `image/png ${before}`)
  })

  it('after a call nothing is kept of its pictures', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const used = (): number => {
      collect()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const size = 2 * 1024 * 1024
    const buy = async (title: string): Promise<void> => {
      const bytes = new Uint8Array(size)
      await exchange(inMemory(wireOf(title), [bytes]), notRecorded)
      assert.equal(bytes.length, 0)
      submits.length = 0
    }
    const titles = ['Google', 'Bedrock Titan', 'Black Forest Labs', 'fal, several', 'Together']
    for (const title of titles) await buy(title)
    const before = used()
    for (let round = 0; round < 3; round += 1) for (const title of titles) await buy(title)
    // Connections free their buffers a little later; leaked memory is still there then.
    await eventually(async () => {
      const kept = used() - before
      assert.ok(kept < 5 * size, `${kept} bytes more after ${3 * titles.length} calls of ${size}`)
    })
  })
})
