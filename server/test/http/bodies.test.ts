/** Arriving bodies: slow senders, and many large bodies at once, of one project next to another. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startGateway, type Gateway } from '#test/support/gateway.ts'

const KB = 1024
const LOUD = 'key-of-a-loud-project-00001'
const CALM = 'key-of-a-calm-project-00001'
const RATED = 'key-of-a-rated-project-0001'
const projects = {
  loud: { keys: [{ name: 'loud', secret: LOUD }] },
  calm: { keys: [{ name: 'calm', secret: CALM }] },
  rated: { keys: [{ name: 'rated', secret: RATED }], limits: { requestsPerMinute: 3 } },
}
const models = { 'plain-w16': { on: 'plain' } }
const images = { 'plain-image': { on: 'plain' } }

const quick = await startGateway({ models, images, projects, limits: { uploadIdleMs: 300 } })
/** Room for two largest bodies. */
const small = await startGateway({
  models,
  images,
  projects,
  limits: {
    uploadIdleMs: 20_000,
    bodyBytes: 1024 * KB,
    embeddingsBodyBytes: 512 * KB,
    imagesBodyBytes: 512 * KB,
    editsJsonBytes: 512 * KB,
  },
})

/** One request, byte by byte. */
class Sender {
  readonly socket: Socket
  readonly answered: Promise<string>

  constructor({ url }: Gateway, path: string, key: string, headers: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect(Number(port), hostname).on('error', () => {})
    const chunks: Buffer[] = []
    this.socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    this.answered = new Promise((resolve) => {
      this.socket.once('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
    })
    this.socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`,
    )
  }

  async send(text: string): Promise<this> {
    if (this.socket.destroyed) return this
    await Promise.race([
      new Promise<void>((resolve) => this.socket.write(text, () => resolve())),
      once(this.socket, 'close'),
    ])
    return this
  }

  async status(): Promise<number> {
    return Number((await this.answered).split(' ')[1])
  }
}

const PATHS = ['/v1/embeddings', '/v1/images/generations', '/v1/images/edits']

for (const path of PATHS) {
  test(`${path}: a body that stands still is given up`, async () => {
    for (const [headers, begin] of [
      ['content-length: 1000', ''],
      ['content-length: 1000', '{'],
      ['content-length: 400000', `{"input":"${'a'.repeat(200_000)}`],
      ['transfer-encoding: chunked', '1\r\n{\r\n'],
    ] as const) {
      const sender = await new Sender(quick, path, LOUD, headers).send(begin)
      const answer = await sender.answered
      assert.match(answer, /^HTTP\/1\.1 408 [\s\S]*request_timeout/, headers)
    }
  })

  test(`${path}: a body that comes byte by byte is given up`, async () => {
    const sender = new Sender(quick, path, LOUD, 'content-length: 1000000')
    const trickle = setInterval(() => void sender.send(' '), 40)
    assert.match(await sender.answered, /^HTTP\/1\.1 408 [\s\S]*less than 1 KB a second/)
    clearInterval(trickle)
  })
}

/** A request of `bytes` bytes. */
function question(bytes: number): string {
  const empty = JSON.stringify({ model: 'plain-w16', input: [''] })
  const texts = Array.from({ length: Math.ceil(bytes / 1000) }, (_, index) => String(index).padEnd(900, ' a'))
  const body = JSON.stringify({ model: 'plain-w16', input: texts })
  return body.length > bytes
    ? body
    : `${body}${' '.repeat(bytes - body.length)}`.slice(0, Math.max(bytes, empty.length))
}

async function ask(gateway: Gateway, key: string, bytes: number): Promise<number> {
  return (await gateway.ask(question(bytes), { key })).status
}

async function begun(bodies: number, path: string, announced: number, sent: number): Promise<Sender[]> {
  return Promise.all(
    Array.from({ length: bodies }, () =>
      new Sender(small, path, LOUD, `content-length: ${announced}`).send(' '.repeat(sent)),
    ),
  )
}

test('unfinished bodies of one project leave room for another', async () => {
  const held = await begun(30, '/v1/embeddings', 500 * KB, 400 * KB)
  await delay(200)
  for (let round = 0; round < 5; round += 1) assert.equal(await ask(small, CALM, 200 * KB), 200)
  for (const { socket } of held) socket.destroy()
})

test('an announcement takes no room, and edits go on', async () => {
  const held = await begun(40, '/v1/images/edits', 500 * KB, 1)
  await delay(200)
  const edit = { model: 'plain-image', prompt: 'a', images: [], padding: 'a'.repeat(300 * KB) }
  for (const key of [LOUD, CALM]) {
    const { status, text } = await small.ask(edit, { key, path: '/v1/images/edits' })
    assert.equal(status, 400, text)
    assert.doesNotMatch(text, /too_many/)
  }
  for (const { socket } of held) socket.destroy()
})

test('bodies that wait for one another are served one after another', async () => {
  const body = question(500 * KB)
  const senders = await begun(8, '/v1/embeddings', body.length, 0)
  // Together they would need four times the room.
  await Promise.all(senders.map((sender) => sender.send(body.slice(0, 300 * KB))))
  await Promise.all(senders.map((sender) => sender.send(body.slice(300 * KB))))
  assert.deepEqual(
    await Promise.all(senders.map((sender) => sender.status())),
    senders.map(() => 200),
  )
})

test('a small body needs no room', async () => {
  const held = await begun(30, '/v1/embeddings', 500 * KB, 400 * KB)
  await delay(200)
  assert.equal(await ask(small, LOUD, 2 * KB), 200)
  for (const { socket } of held) socket.destroy()
})

test('a request is counted before its body is waited for, and once', async () => {
  const remaining: (string | null)[] = []
  for (const bytes of [200 * KB, 1 * KB, 200 * KB]) {
    const { headers, status } = await small.ask(question(bytes), { key: RATED })
    assert.equal(status, 200)
    remaining.push(headers.get('x-ratelimit-remaining-requests'))
  }
  assert.deepEqual(remaining, ['2', '1', '0'])
  const sender = new Sender(small, '/v1/embeddings', RATED, `content-length: ${500 * KB}`)
  // The rest never comes.
  await sender.send(' '.repeat(1 * KB))
  assert.equal(await sender.status(), 429)
})

test('a body without room in time gets a fault that says who holds the room', async () => {
  const tight = await startGateway({
    models,
    projects,
    limits: {
      uploadIdleMs: 1500,
      bodyBytes: 512 * KB,
      embeddingsBodyBytes: 512 * KB,
      imagesBodyBytes: 1 * KB,
      editsJsonBytes: 1 * KB,
    },
  })
  const body = ' '.repeat(400 * KB)
  const senders = Array.from(
    { length: 8 },
    () => new Sender(tight, '/v1/embeddings', LOUD, `content-length: ${500 * KB}`),
  )
  await Promise.all(senders.map((sender) => sender.send(body)))
  const answers = await Promise.all(senders.map((sender) => sender.answered))
  const refused = answers.filter((answer) => answer.startsWith('HTTP/1.1 503'))
  assert.ok(refused.length > 0)
  for (const answer of refused) {
    assert.match(answer, /too_many_bodies/)
    assert.match(answer, /retry-after: /)
    assert.match(answer, /of them of project 'loud'/)
  }
  assert.ok(answers.every((answer) => /^HTTP\/1\.1 (408|503)/.test(answer)))
})
