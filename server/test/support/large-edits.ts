/** Edits with images of many megabytes. All are sent from one buffer, and differ in their last bytes. */
import { createHash, randomBytes, randomFillSync, randomUUID } from 'node:crypto'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import sharp from 'sharp'

export interface LargePicture {
  readonly sha256: string
  readonly pieces: readonly Uint8Array[]
}

const TAIL_BYTES = 16
/** As much as a socket takes at once. */
const PIECE_BYTES = 64 * 1024

/** Makes images of this many bytes: a small real PNG, followed by random bytes. */
export async function largePictures(pictureBytes: number): Promise<() => LargePicture> {
  const background = { r: 200, g: 80, b: 40, alpha: 0.5 }
  const png = await sharp({ create: { width: 64, height: 48, channels: 4, background } })
    .png()
    .toBuffer()
  const shared = randomFillSync(Buffer.allocUnsafe(pictureBytes - TAIL_BYTES))
  shared.set(png)
  const hash = createHash('sha256').update(shared)
  return () => {
    const tail = randomBytes(TAIL_BYTES)
    return { sha256: hash.copy().update(tail).digest('hex'), pieces: [shared, tail] }
  }
}

export interface EditToSend {
  /** The gateway's address without a path. */
  readonly url: string
  readonly key: string
  readonly model: string
  readonly prompt: string
  readonly pictures: readonly Pick<LargePicture, 'pieces'>[]
  /** Awaited before each part. */
  readonly pace?: (bytes: number) => Promise<unknown>
}

export interface EditAnswer {
  readonly status: number
  readonly text: string
  /** Bytes of the body that the system had taken when the answer began. */
  readonly sentBytes: number
  /** When the last of them was taken, by `performance.now()`. */
  readonly sentAtMs: number
}

/** Sends until all is sent or an answer begins, whichever comes first. */
export async function sendEdit({ url, key, model, prompt, pictures, pace }: EditToSend): Promise<EditAnswer> {
  const boundary = `large-${randomUUID()}`
  const body = bodyOf(boundary, { model, prompt }, pictures)
  const call = request(`${url}/v1/images/edits`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': body.reduce((sum, { length }) => sum + length, 0),
    },
  })
  const answered = Promise.withResolvers<IncomingMessage>()
  let hasBegun = false
  call.once('response', (answer) => {
    hasBegun = true
    answered.resolve(answer)
  })
  // Behind an answer that came early the connection may break: that is no news.
  call.on('error', (error) => answered.reject(error))
  let sentBytes = 0
  for (const piece of pieces(body)) {
    await pace?.(piece.length)
    if (hasBegun) break
    const sent = new Promise<void>((resolve) => call.write(piece, () => resolve()))
    await Promise.race([sent, answered.promise])
    if (!hasBegun) sentBytes += piece.length
  }
  const sentAtMs = performance.now()
  if (!hasBegun) call.end()
  const answer = await answered.promise
  const answerText = await text(answer)
  call.destroy()
  return { status: answer.statusCode ?? 0, text: answerText, sentBytes, sentAtMs }
}

function bodyOf(
  boundary: string,
  texts: Readonly<Record<string, string>>,
  pictures: EditToSend['pictures'],
): Uint8Array[] {
  const open = (words: string): Buffer =>
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${words}\r\n\r\n`)
  const name = pictures.length === 1 ? 'image' : 'image[]'
  return [
    ...Object.entries(texts).flatMap(([field, value]) => [
      open(`name="${field}"`),
      Buffer.from(`${value}\r\n`),
    ]),
    ...pictures.flatMap(({ pieces: bytes }, index) => [
      open(`name="${name}"; filename="${index}.png"\r\ncontent-type: image/png`),
      ...bytes,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]
}

function* pieces(body: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const bytes of body)
    for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES)
      yield bytes.subarray(offset, offset + PIECE_BYTES)
}
