/**
 * Every way in which a stranger without a key, and a key without money, can try to stop a node for others: a number of
 * connections each, each of which tries one way after another until the time is over. Started by strangers.ts.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { deflateSync } from 'node:zlib'
import { pngChunk, pngStart, type PngHeader } from '../../server/test/support/picture-bombs.ts'

export interface Attack {
  readonly port: number
  readonly controlPort: number
  readonly seconds: number
  readonly strangers: number
  readonly ofPoorKey: number
  readonly poorKey: string
  /** Tries begun per second, of all together: an attacker's own line has an end too. */
  readonly perSecond: number
}

/** How often each way was tried, and the answers: statuses, `silence` when it was only cut. */
export type Heard = Readonly<Record<string, Readonly<Record<string, number>>>>

/** A connection that the node has not cut by then is closed: it held what it could. */
const HOLD_MS = 60_000
const MEGABYTE = 1024 * 1024

interface Try {
  readonly head: string
  readonly body?: Buffer | undefined
  /** After the body, a byte comes this often. Undefined: nothing more comes, and the connection stays open. */
  readonly everyMs?: number
  /** At the control port. */
  readonly isAtControl?: boolean
}

type Way = (key: string) => Try

function head(path: string, headers: Readonly<Record<string, string | number>>, method = 'POST'): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`
}

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'multipart/form-data; boundary=b' }

/** The same at the control port, below its API. */
function atControl(
  path: string,
  headers: Readonly<Record<string, string | number>>,
  rest: Partial<Try>,
): Try {
  return { head: head(`/api/v1${path}`, headers), isAtControl: true, ...rest }
}

function json(path: string, key: string, body: Buffer, more: Record<string, string | number> = {}): Try {
  const authorization = `Bearer ${key}`
  return {
    head: head(path, {
      authorization,
      'content-type': 'application/json',
      'content-length': body.length,
      ...more,
    }),
    body,
  }
}

const wrongKey = (): string => `sk-${Math.random().toString(36).slice(2).padEnd(32, 'x')}`
const spaces = (bytes: number): Buffer => Buffer.alloc(bytes, ' ')

const strangers: Readonly<Record<string, Way>> = {
  'a body for a path that is not there': () => ({
    head: head('/nowhere', { 'content-type': 'application/json', 'content-length': MEGABYTE }),
    body: spaces(MEGABYTE - 1),
  }),
  'a body without an end for a path that is not there': () => ({
    head: head('/nowhere', { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }),
    body: Buffer.from('1\r\n \r\n'),
    everyMs: 1000,
  }),
  'headers that do not end': () => ({
    head: 'POST /v1/embeddings HTTP/1.1\r\nhost: torana\r\n',
    body: Buffer.from('x-a: '),
    everyMs: 500,
  }),
  'a connection that says nothing': () => ({ head: '' }),
  'a kept connection': () => ({ head: head('/v1/models', {}, 'GET') }),
  'a wrong key': () => json('/v1/embeddings', wrongKey(), Buffer.from('{"model":"victim-w16","input":"a"}')),
  'a wrong key with 8 MB': () => ({
    head: head('/v1/embeddings', {
      authorization: `Bearer ${wrongKey()}`,
      'content-type': 'application/json',
      'content-length': 8 * MEGABYTE,
    }),
    body: spaces(MEGABYTE),
  }),
  'no key, and a form that comes slowly': () => ({
    head: head('/v1/images/edits', {
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': 9000,
    }),
    body: Buffer.from('--b\r\n'),
    everyMs: 1000,
  }),
  'a method that is not there': () => ({
    head: head('/v1/embeddings', { 'content-length': MEGABYTE }, 'PUT'),
  }),
  'no HTTP': () => ({ head: '\u0016\u0003\u0001 hello\r\n\r\n' }),
  'two lengths': () => ({ head: head('/v1/embeddings', { 'content-length': 1, 'Content-Length': 2 }) }),
  'an asset that is not there': () => ({ head: head(`/v1/assets/${Math.random()}`, {}, 'GET') }),
  'control: a sign-in of 1 MB without the last byte': () =>
    atControl('/session', { ...JSON_TYPE, 'content-length': MEGABYTE }, { body: spaces(MEGABYTE - 1) }),
  'control: a sign-in of 8 KB without the last byte': () =>
    atControl('/session', { ...JSON_TYPE, 'content-length': 8192 }, { body: spaces(8191) }),
  'control: a sign-in of one byte a second': () =>
    atControl(
      '/session',
      { ...JSON_TYPE, 'transfer-encoding': 'chunked' },
      { body: Buffer.from('1\r\n{\r\n'), everyMs: 1000 },
    ),
  'control: an invitation that is a guess': () => {
    const body = Buffer.from(JSON.stringify({ token: wrongKey() }))
    return atControl('/invitations/look', { ...JSON_TYPE, 'content-length': body.length }, { body })
  },
  'control: a body for a path that is not there': () =>
    atControl('/nowhere', { ...JSON_TYPE, 'content-length': MEGABYTE }, { body: spaces(MEGABYTE - 1) }),
  'control: a wrong token with 1 MB': () =>
    atControl(
      '/keys',
      { ...JSON_TYPE, authorization: `Bearer ${wrongKey()}`, 'content-length': MEGABYTE },
      { body: spaces(MEGABYTE - 1) },
    ),
  'control: headers that do not end': () => ({
    head: 'POST /api/v1/session HTTP/1.1\r\nhost: localhost\r\n',
    body: Buffer.from('x-a: '),
    everyMs: 500,
    isAtControl: true,
  }),
  'control: a connection that says nothing': () => ({ head: '', isAtControl: true }),
  'control: a stream without a token': () => ({
    head: head('/api/v1/events?topics=flows', {}, 'HEAD'),
    isAtControl: true,
  }),
  'control: metrics by another name': () => ({
    head: head('/metrics', {}, 'GET').replace('localhost', 'attacker.example'),
    isAtControl: true,
  }),
}

const letters = Buffer.from(`{"model":"counted","input":"${'abcdefghij'.repeat(800_000)}"}`)
/** As long as a text may be before it is refused without counting. */
const countable = Buffer.from(`{"model":"counted","input":"${'abcdefghij'.repeat(100_000)}"}`)
const deep = Buffer.from(
  `{"model":"victim-w16","x":${'['.repeat(20_000)}${']'.repeat(20_000)},"input":"${'a'.repeat(1_100_000)}"}`,
)
const tangled = Buffer.from(`{"model":"victim-w16","x":[${'{},'.repeat(2_600_000)}0],"input":"a"}`)
const fields = Buffer.from(
  `{"model":"victim-w16","input":"a"${Array.from({ length: 400_000 }, (_, index) => `,"f${index}":1`).join('')}}`,
)
const longValue = Buffer.from(`{"model":"victim-w16","input":"a","input_type":"${'y'.repeat(7_000_000)}"}`)
const SIDE = 7071
const mask = flatPng({ width: SIDE, height: SIDE, depth: 16, colourType: 6 })
const picture = flatPng({ width: SIDE, height: SIDE, depth: 8, colourType: 6 })
const form = (file: Buffer): Buffer =>
  Buffer.concat([
    ...[
      ['name="model"', Buffer.from('free-pictures')],
      ['name="prompt"', Buffer.from('x')],
      ['name="image"; filename="a.png"', picture],
      ['name="mask"; filename="m.png"', file],
    ].map(([name, bytes]) =>
      Buffer.concat([
        Buffer.from(`--b\r\ncontent-disposition: form-data; ${name?.toString()}\r\n\r\n`),
        bytes as Buffer,
        Buffer.from('\r\n'),
      ]),
    ),
    Buffer.from('--b--\r\n'),
  ])
const masked = form(mask)

/** Lines of a batch whose model's name is as long as a line may be. */
const longModels = Array.from({ length: 3 }, (_, index) =>
  JSON.stringify({
    custom_id: `${index}`,
    method: 'POST',
    url: '/v1/embeddings',
    body: { model: 'ŵ'.repeat(500_000) },
  }),
).join('\n')
const fileForm = (content: string): Buffer =>
  Buffer.from(
    `--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="f.jsonl"\r\n\r\n${content}\r\n--b--\r\n`,
  )
const longModelsForm = fileForm(longModels)

const ofPoorKey: Readonly<Record<string, Way>> = {
  'an upload of 1 MB of JSON without the last byte': (key) => ({
    ...json('/v1/uploads', key, Buffer.alloc(0), { 'content-length': MEGABYTE }),
    body: spaces(MEGABYTE - 1),
  }),
  'an upload of a byte every twelve seconds': (key) => ({
    ...json('/v1/uploads', key, Buffer.alloc(0), { 'content-length': 16_000 }),
    body: spaces(8000),
    everyMs: 12_000,
  }),
  'a completion of 1 MB without the last byte': (key) => ({
    ...json('/v1/uploads/upload_none/complete', key, Buffer.alloc(0), { 'content-length': MEGABYTE }),
    body: spaces(MEGABYTE - 1),
  }),
  'a file whose models are long': (key) => ({
    head: head('/v1/files', {
      ...FORM_TYPE,
      authorization: `Bearer ${key}`,
      'content-length': longModelsForm.length,
    }),
    body: longModelsForm,
  }),
  'a file that does not come': (key) => ({
    head: head('/v1/files', {
      ...FORM_TYPE,
      authorization: `Bearer ${key}`,
      'content-length': 500 * MEGABYTE,
    }),
    body: fileForm('x'.repeat(100_000)).subarray(0, 90_000),
    everyMs: 1000,
  }),
  'a batch of a file that is not there': (key) =>
    json(
      '/v1/batches',
      key,
      Buffer.from('{"input_file_id":"file-none","endpoint":"/v1/embeddings","completion_window":"24h"}'),
    ),
  'a file with a NUL in its id': (key) => ({
    head: head('/v1/files/a%00b', { authorization: `Bearer ${key}` }, 'GET'),
  }),
  '8 MB without the last byte': (key) => {
    const whole = json('/v1/embeddings', key, letters)
    return { ...whole, body: letters.subarray(0, -1) }
  },
  'a body of one byte a second': (key) => ({
    ...json('/v1/embeddings', key, letters),
    body: letters.subarray(0, 100),
    everyMs: 1000,
  }),
  'a text of 8 MB': (key) => json('/v1/embeddings', key, letters),
  'a text of 8 MB, dry': (key) => json('/v1/embeddings', key, letters, { 'x-torana-dry-run': 'true' }),
  'a text that must be counted': (key) => json('/v1/embeddings', key, countable),
  'a text that must be counted, dry': (key) =>
    json('/v1/embeddings', key, countable, { 'x-torana-dry-run': 'true' }),
  '20,000 levels': (key) => json('/v1/embeddings', key, deep),
  '2.6 million values': (key) => json('/v1/embeddings', key, tangled, { 'x-torana-dry-run': 'true' }),
  '400,000 fields': (key) => json('/v1/embeddings', key, fields),
  'a value of 7 MB': (key) => json('/v1/embeddings', key, longValue),
  'an edit of 32 MB that does not come': (key) => ({
    ...json('/v1/images/edits', key, Buffer.alloc(0), { 'content-length': 32 * MEGABYTE }),
    body: Buffer.from('{'),
  }),
  'an edit of a byte every five seconds': (key) => ({
    head: head('/v1/images/edits', {
      authorization: `Bearer ${key}`,
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': 90_000,
    }),
    body: Buffer.from('--b\r\n'),
    everyMs: 5000,
  }),
  'a mask of 50 megapixels': (key) => ({
    head: head('/v1/images/edits', {
      authorization: `Bearer ${key}`,
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': masked.length,
    }),
    body: masked,
  }),
  'a text that comes back in an error': (key) =>
    json(
      '/v1/embeddings',
      key,
      Buffer.from(JSON.stringify({ model: 'hostile', input: `@@echo@@${'<'.repeat(60_000)}` })),
    ),
  'an answer in tiny chunks': (key) =>
    json('/v1/embeddings', key, Buffer.from('{"model":"hostile","input":"@@chunks@@"}')),
  'an answer without an end': (key) =>
    json('/v1/embeddings', key, Buffer.from('{"model":"hostile","input":"@@endless@@"}')),
  'a text on which the upstream fails': (key) =>
    json('/v1/embeddings', key, Buffer.from('{"model":"hostile","input":"@@fail@@"}')),
  'an answer that does not come': (key) =>
    json('/v1/embeddings', key, Buffer.from('{"model":"hostile","input":"@@never@@"}')),
  'a picture that costs too much': (key) =>
    json('/v1/images/generations', key, Buffer.from('{"model":"pictures","prompt":"a"}')),
}

/** All of one colour: small on the wire, up to 400 MB when it is unpacked. */
function flatPng(header: PngHeader & { readonly depth: number }): Buffer {
  const rows = Buffer.alloc(header.height * (1 + (header.width * 4 * header.depth) / 8))
  return Buffer.concat([
    pngStart(header),
    pngChunk('IDAT', deflateSync(rows, { level: 1 })),
    pngChunk('IEND'),
  ])
}

/** Until the node cuts it, or it has been held for long enough. Resolves with the answer. */
function tryOnce(port: number, { head: start, body, everyMs }: Try, untilMs: number): Promise<string> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1')
    let heard = 'silence'
    let drip: NodeJS.Timeout | undefined
    const end = setTimeout(() => socket.destroy(), Math.max(0, Math.min(HOLD_MS, untilMs - Date.now())))
    socket.on('data', (chunk: Buffer) => {
      if (heard === 'silence') heard = chunk.toString('latin1').slice(9, 12)
      // Only the answer is wanted; keeping a connection is a separate way.
      if (start.startsWith('POST')) socket.end()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(end)
      clearInterval(drip)
      resolve(heard)
    })
    if (start !== '') socket.write(start)
    if (body) socket.write(body)
    if (everyMs !== undefined) drip = setInterval(() => socket.write('x'), everyMs)
  })
}

async function attack(asked: Attack): Promise<Heard> {
  const heard: Record<string, Record<string, number>> = {}
  const untilMs = Date.now() + asked.seconds * 1000
  const all = asked.strangers + asked.ofPoorKey
  const one = async (index: number): Promise<void> => {
    const isStranger = index < asked.strangers
    const ways = Object.entries(isStranger ? strangers : ofPoorKey)
    // Each connection begins with another way, and at another moment.
    await wait((index / asked.perSecond) * 1000)
    for (let number = index; Date.now() < untilMs; number += 1) {
      const [name, way] = ways[number % ways.length] as [string, Way]
      const made = way(asked.poorKey)
      const code = await tryOnce(made.isAtControl ? asked.controlPort : asked.port, made, untilMs)
      const counts = (heard[name] ??= {})
      counts[code] = (counts[code] ?? 0) + 1
      await wait((all / asked.perSecond) * 1000)
    }
  }
  await Promise.all(Array.from({ length: all }, (_, index) => one(index)))
  return heard
}

if (import.meta.main) {
  process.stdout.write(JSON.stringify(await attack(JSON.parse(process.argv[2] ?? '') as Attack)))
}
