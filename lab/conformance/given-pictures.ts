/** The files that clients send to be edited. They are written for every run, and recognised by their digests. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { drawn } from '../fake-provider/images/draw.ts'
import { filled } from '../fake-provider/images/encode.ts'
import { cacheFolder } from './folders.ts'

/** A file as its owner knows it. */
export interface GivenFile {
  readonly file: string
  readonly name: string
  readonly type: string
}

const folder = join(cacheFolder, 'given')

function given(name: string, type: string): GivenFile {
  return { file: join(folder, name), name, type }
}

const edges = { width: 320, height: 240 }
export const givenSize = `${edges.width}x${edges.height}`

export const photo: GivenFile = given('photo.png', 'image/png')
/** Its name has to be written into the head of a form. */
export const drawing: GivenFile = given('Übersicht "2"; neu.jpeg', 'image/jpeg')
export const poster: GivenFile = given('poster.webp', 'image/webp')
/** For upstreams that read no WebP. */
export const sketch: GivenFile = given('sketch.png', 'image/png')
/** Many times what a connection hands over at once. */
export const large: GivenFile = given('large.png', 'image/png')
export const mask: GivenFile = given('mask.png', 'image/png')
export const narrowMask: GivenFile = given('narrow-mask.png', 'image/png')
export const opaqueMask: GivenFile = given('opaque-mask.png', 'image/png')
export const letter: GivenFile = given('letter.png', 'image/png')

const largeBytes = 6_000_000

export async function writeGivenPictures(): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const write = ({ file }: GivenFile, bytes: Uint8Array | string): void => writeFileSync(file, bytes)
  const canvas = (prompt: string) =>
    sharp(drawn({ ...place, ...edges, prompt }), { raw: { ...edges, channels: 4 } })
  write(photo, await canvas('a photo to edit').png().toBuffer())
  write(drawing, await canvas('a drawing beside it').flatten().jpeg().toBuffer())
  write(poster, await canvas('a poster beside it').webp().toBuffer())
  write(sketch, await canvas('a sketch beside it').png().toBuffer())
  write(large, filled(await canvas('a large photo to edit').png().toBuffer(), 'png', largeBytes))
  write(mask, await maskOf(edges.width, edges.height))
  write(narrowMask, await maskOf(edges.width / 2, edges.height))
  write(opaqueMask, await canvas('no hole in it').flatten().png().toBuffer())
  write(letter, 'Dear Sir or Madam, this is no picture at all.\n'.repeat(20))
}

const place = { number: 1, of: 1, serial: 0, preview: null, transparent: false }

/**
 * A disc and single pixels are to change. Everything else is protected: also what is half transparent or nearly so, and
 * whether it is black or white.
 */
function maskOf(width: number, height: number): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 4)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const isDisc = (x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 3) ** 2
      const isSpeck = y < 24 && x % 7 === 3 && y % 5 === 2
      const alpha = y >= height - 16 ? 1 + (x % 255) : 255
      const shade = (x >> 3) % 2 === 0 ? 255 : 0
      pixels.set([shade, shade, shade, isDisc || isSpeck ? 0 : alpha], (y * width + x) * 4)
    }
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer()
}
