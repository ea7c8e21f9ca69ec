/** The right answers of images, known in advance. Those of vectors are in `vectors.ts`. */
import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'

export const WIDTH = 64
export const EDGE = 64
/** Squares of one colour, so large that no coding hides which colour it is. */
export const SQUARE = 16
export const SQUARES = (EDGE / SQUARE) ** 2

/** A tokenizer of three ids of cl100k_base: their texts are public, and any sequence of them is a text. */
export const WORDS: ReadonlyMap<number, string> = new Map([
  [9906, 'Hello'],
  [1917, ' world'],
  [220, ' '],
])

export function textOf(tokens: readonly number[]): string {
  return tokens.map((token) => WORDS.get(token) ?? '?').join('')
}

export const TOKENS_OF_A_FILE = 50
export const TOKENS_OF_A_PICTURE = 100

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** What an image shows: its prompt, the index of its call, and the files it was painted over. */
export interface Motif {
  readonly prompt: string
  readonly callId: string
  readonly index: number
  /** Sums of the files that were sent, in their order, the mask last. */
  readonly given: readonly string[]
}

export function motifText({ prompt, callId, index, given }: Motif): string {
  return JSON.stringify({ prompt, callId, index, given })
}

/** The motif that an image names; undefined when it names none, because it was converted. */
export function motifIn(picture: Buffer): string | undefined {
  const at = picture.indexOf('tEXtmotif\0')
  if (at < 0) return undefined
  const start = at + 'tEXtmotif\0'.length
  const length = picture.readUInt32BE(at - 4) - 'motif\0'.length
  return Buffer.from(picture.subarray(start, start + length).toString(), 'hex').toString()
}

/** Colours of the squares, red, green and blue each. */
export function coloursOf(motif: string): Uint8Array {
  return createHash('shake256', { outputLength: SQUARES * 3 })
    .update(motif)
    .digest()
}

export function pictureOf(motif: string): Buffer {
  const colours = coloursOf(motif)
  return png(
    (x, y) => [...colours.subarray(squareAt(x, y) * 3, squareAt(x, y) * 3 + 3), 255],
    Buffer.from(motif),
  )
}

/** An image to edit, with other bytes each time. */
export function drawing(word: string): Buffer {
  return png((x, y) => [x * 3, y * 3, word.length, 255], Buffer.from(word))
}

/** Its hole is a rectangle. */
export function mask(word: string): Buffer {
  return png((x, y) => [0, 0, 0, x > 8 && x < 40 && y > 8 && y < 40 ? 0 : 255], Buffer.from(word))
}

function squareAt(x: number, y: number): number {
  return Math.floor(y / SQUARE) * (EDGE / SQUARE) + Math.floor(x / SQUARE)
}

function png(pixel: (x: number, y: number) => readonly number[], comment: Buffer): Buffer {
  const rows = Buffer.alloc((EDGE * 4 + 1) * EDGE)
  for (let y = 0; y < EDGE; y += 1) {
    for (let x = 0; x < EDGE; x += 1) rows.set(pixel(x, y), y * (EDGE * 4 + 1) + 1 + x * 4)
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(EDGE, 0)
  header.writeUInt32BE(EDGE, 4)
  header.set([8, 6], 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('tEXt', Buffer.concat([Buffer.from('motif\0'), Buffer.from(comment.toString('hex'))])),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), content])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(content.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}
