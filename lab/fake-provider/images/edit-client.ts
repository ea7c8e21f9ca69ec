import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import sharp from 'sharp'
import type { ImagesAnswer, ImagesBody } from './test-client.ts'

/** What tests of edits send, and how they read the answer. */
export const edit = { model: 'gpt-image-2', prompt: 'a blue bicycle' }

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Every pixel another colour and transparency, so that one that moved or changed is noticed. */
export async function pictureOf(width: number, height: number, seed = 0): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 4)
  for (let index = 0; index < pixels.length; index++)
    pixels[index] = (index * 31 + seed * 7 + (index >> 8)) & 0xff
  return await sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer()
}

export type Kind = 'alpha' | 'white' | 'black'

/** A mask that edits the pixels of which `isEdited` says so, in one of the three languages. */
export async function maskOf(
  width: number,
  height: number,
  kind: Kind,
  isEdited: (x: number, y: number) => boolean,
): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 4)
  for (let pixel = 0; pixel < width * height; pixel++) {
    const edited = isEdited(pixel % width, Math.floor(pixel / width))
    const isWhite = kind === 'alpha' || edited === (kind === 'white')
    pixels.fill(isWhite ? 255 : 0, pixel * 4, pixel * 4 + 3)
    pixels[pixel * 4 + 3] = kind === 'alpha' && edited ? 0 : 255
  }
  return await sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer()
}

export async function rgbaOf(picture: Uint8Array): Promise<{ data: Buffer; width: number; height: number }> {
  const { data, info } = await sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

/** What was to be edited has another colour, everything else not a bit of another one. */
export async function assertPainted(
  before: Uint8Array,
  after: Uint8Array,
  isEdited: (x: number, y: number) => boolean,
): Promise<void> {
  const [old, made] = [await rgbaOf(before), await rgbaOf(after)]
  assert.deepEqual([made.width, made.height], [old.width, old.height])
  for (let pixel = 0; pixel < old.width * old.height; pixel++) {
    const [x, y] = [pixel % old.width, Math.floor(pixel / old.width)]
    const isSame = old.data
      .subarray(pixel * 4, pixel * 4 + 4)
      .equals(made.data.subarray(pixel * 4, pixel * 4 + 4))
    assert.equal(isSame, !isEdited(x, y), `pixel ${x}, ${y}`)
  }
}

export type Upload = { name: string; bytes: Uint8Array; filename?: string; type?: string }

/** A form, written byte by byte as RFC 7578 says: nothing between the test and the wire improves it. */
export function formBody(parts: readonly ([name: string, text: string] | Upload)[]): {
  body: Buffer
  contentType: string
} {
  const boundary = '----a-boundary-0123'
  const pieces = parts.flatMap((part) => {
    const [head, bytes] = Array.isArray(part)
      ? [`name="${part[0]}"`, Buffer.from(part[1])]
      : [
          `name="${part.name}"; filename="${part.filename ?? 'a.png'}"\r\ncontent-type: ${part.type ?? 'image/png'}`,
          part.bytes,
        ]
    return [
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`),
      bytes,
      Buffer.from('\r\n'),
    ]
  })
  const body = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)])
  return { body, contentType: `multipart/form-data; boundary=${boundary}` }
}

export async function editByForm(
  scenarioUrl: string,
  parts: readonly ([name: string, text: string] | Upload)[],
  fields: Record<string, string> = {},
): Promise<ImagesAnswer> {
  const { body, contentType } = formBody([...Object.entries({ ...edit, ...fields }), ...parts])
  return await post(scenarioUrl, body, contentType)
}

export async function editByJson(scenarioUrl: string, fields: object): Promise<ImagesAnswer> {
  return await post(scenarioUrl, JSON.stringify({ ...edit, ...fields }), 'application/json')
}

async function post(scenarioUrl: string, body: Buffer | string, contentType: string): Promise<ImagesAnswer> {
  const answer = await fetch(`${scenarioUrl}/v1/images/edits`, {
    method: 'POST',
    headers: { 'content-type': contentType },
    body,
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) as ImagesBody }
}

export function dataUrl(picture: Uint8Array): string {
  return `data:image/png;base64,${Buffer.from(picture).toString('base64')}`
}
