/** Callers with a large image each, all at once, and how each was answered. */
import { createHash, randomBytes, randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import sharp from 'sharp'

export interface ImageCallers {
  readonly url: string
  readonly key: string
  readonly model: string
  readonly callers: number
  readonly imageBytes: number
}

export interface ImageAnswer {
  /** 0: the connection ended without an answer. */
  readonly status: number
  /** Of a refusal. */
  readonly code: string
  readonly saysWhen: boolean
  readonly sha256: string
  readonly tookMs: number
}

/** A multiple of three, so that the base64 of the end follows that of the beginning. */
const TAIL_BYTES = 24
const PIECE_BYTES = 64 * 1024

if (import.meta.main) {
  const callers = JSON.parse(process.argv[2] ?? '') as ImageCallers
  const next = await images(callers.imageBytes)
  const answers = await Promise.all(Array.from({ length: callers.callers }, () => ask(callers, next())))
  process.stdout.write(JSON.stringify(answers))
}

interface Image {
  readonly sha256: string
  /** The image in base64. All share one buffer, and differ in their last bytes. */
  readonly base64: readonly Buffer[]
}

async function images(imageBytes: number): Promise<() => Image> {
  const png = await sharp({ create: { width: 64, height: 48, channels: 3, background: '#c85' } })
    .png()
    .toBuffer()
  const size = Math.floor((imageBytes - TAIL_BYTES) / 3) * 3
  const shared = randomFillSync(Buffer.allocUnsafe(size))
  shared.set(png)
  const base64 = Buffer.from(shared.toString('base64'))
  const hash = createHash('sha256').update(shared)
  return () => {
    const tail = randomBytes(TAIL_BYTES)
    return {
      sha256: hash.copy().update(tail).digest('hex'),
      base64: [base64, Buffer.from(tail.toString('base64'))],
    }
  }
}

async function ask({ url, key, model }: ImageCallers, { sha256, base64 }: Image): Promise<ImageAnswer> {
  const start = `{"model":"${model}","input":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`
  const body = [Buffer.from(start), ...base64, Buffer.from('"}}]}]}')]
  const startedMs = performance.now()
  const call = request(`${url}/v1/embeddings`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': body.reduce((sum, { length }) => sum + length, 0),
    },
  })
  const answered = once(call, 'response') as Promise<[IncomingMessage]>
  answered.catch(() => {})
  call.on('error', () => {})
  let hasBegun = false
  call.once('response', () => (hasBegun = true))
  try {
    for (const piece of pieces(body)) {
      if (hasBegun) break
      if (!call.write(piece)) await Promise.race([once(call, 'drain'), answered])
    }
    if (!hasBegun) call.end()
    const [answer] = await answered
    const said = await text(answer)
    const code = /"code":\s*"([a-z_]+)"/.exec(said)?.[1] ?? ''
    const saysWhen = answer.headers['retry-after'] !== undefined
    return { status: answer.statusCode ?? 0, code, saysWhen, sha256, tookMs: performance.now() - startedMs }
  } catch {
    return { status: 0, code: '', saysWhen: false, sha256, tookMs: performance.now() - startedMs }
  } finally {
    call.destroy()
  }
}

function* pieces(body: readonly Buffer[]): Generator<Buffer> {
  for (const bytes of body)
    for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES)
      yield bytes.subarray(offset, offset + PIECE_BYTES)
}
