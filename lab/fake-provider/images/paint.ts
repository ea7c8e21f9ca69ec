import type { Sharp } from 'sharp'
import type { Part } from '../form.ts'
import type { Scenario } from '../traits.ts'
import { Refusal } from '../wire.ts'
import type { Given, Polarity } from './given.ts'
import type { ImageQuestion } from './image-question.ts'

/** RGBA, row by row. */
export type Canvas = { pixels: Buffer; width: number; height: number }

/** Larger pictures are not painted, but answered with a drawing: they would keep the whole server busy. */
const maxPixels = 4096 ** 2

/**
 * The first picture with every colour that the mask lets change turned into its complement, opaque; what the mask protects
 * stays as it was, bit by bit. Null when the bytes are not here.
 */
export async function painted(scenario: Scenario, question: ImageQuestion): Promise<Canvas | null> {
  const { given, size } = question
  if (given === undefined) return null
  for (const [position, part] of given.images.entries()) await refuseUnreadable(part, position + 1)
  const [first] = given.images
  const region = scenario.has('ignores-mask') ? null : await maskOf(scenario, given)
  if (first?.content == null || !(await isPaintable(first.content))) return null
  const canvas = await decoded(first.content)
  if (region !== null && (region.width !== canvas.width || region.height !== canvas.height)) {
    throw unreadableMask(
      `The mask is ${region.width}x${region.height}, the first image ${canvas.width}x${canvas.height}.`,
    )
  }
  complement(canvas, region?.isEdited ?? (() => true))
  return size === null || given.mask !== null
    ? canvas
    : await resized(canvas, question.width, question.height)
}

export async function resized({ pixels, ...size }: Canvas, width: number, height: number): Promise<Canvas> {
  if (size.width === width && size.height === height) return { pixels, width, height }
  const { default: sharp } = await import('sharp')
  const picture = sharp(pixels, { raw: { ...size, channels: 4 } })
  const resizing = picture.resize(width, height, { fit: 'fill', kernel: 'nearest' })
  return { pixels: await resizing.raw().toBuffer(), width, height }
}

function complement({ pixels, width, height }: Canvas, isEdited: (pixel: number) => boolean): void {
  const colours = new Uint32Array(pixels.buffer, pixels.byteOffset, width * height)
  for (let pixel = 0; pixel < colours.length; pixel++) {
    // The lowest byte is the first in memory: red, green, blue, alpha.
    if (isEdited(pixel)) colours[pixel] = ((colours[pixel] ?? 0) ^ 0x00ff_ffff) | 0xff00_0000
  }
}

type Region = { width: number; height: number; isEdited: (pixel: number) => boolean }

async function maskOf(scenario: Scenario, { mask, polarity: own }: Given): Promise<Region | null> {
  if (mask?.content == null) return null
  const polarity = polarityOf(scenario, own)
  const { format, hasAlpha } = await inspected(mask.content, () => unreadableMask('It cannot be read.'))
  if (polarity === 'alpha' && (format !== 'png' || !hasAlpha)) {
    throw unreadableMask('It must be a PNG with an alpha channel.')
  }
  if (!(await isPaintable(mask.content))) return null
  const { pixels, width, height } = await decoded(mask.content)
  return { width, height, isEdited: (pixel) => isEditedBy(polarity, pixels, pixel * 4) }
}

function polarityOf(scenario: Scenario, own: Polarity): Polarity {
  if (scenario.has('mask-white')) return 'white'
  return scenario.has('mask-black') ? 'black' : own
}

function isEditedBy(polarity: Polarity, pixels: Buffer, at: number): boolean {
  if (polarity === 'alpha') return pixels[at + 3] === 0
  const [red, green, blue] = [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0]
  const isWhite = 0.299 * red + 0.587 * green + 0.114 * blue >= 128
  return polarity === 'white' ? isWhite : !isWhite
}

async function decoded(content: Buffer): Promise<Canvas> {
  const picture = (await opened(content)).autoOrient().toColourspace('srgb').ensureAlpha().raw()
  const { data, info } = await picture.toBuffer({ resolveWithObject: true })
  if (info.channels !== 4) throw new Error(`Decoded ${info.channels} channels in the place of 4.`)
  // Words of four bytes begin at multiples of four.
  const pixels = data.byteOffset % 4 === 0 ? data : Buffer.from(new Uint8Array(data).buffer)
  return { pixels, width: info.width, height: info.height }
}

async function refuseUnreadable({ content, name }: Part, number: number): Promise<void> {
  if (content === null) return
  const refusal = () =>
    new Refusal(400, `Invalid image file or mode for image ${number}, please check your image file.`, {
      code: 'invalid_image_file',
      param: name.replace('[]', ''),
    })
  const { format } = await inspected(content, refusal)
  if (format === undefined || !['png', 'jpeg', 'webp'].includes(format)) throw refusal()
}

async function isPaintable(content: Buffer): Promise<boolean> {
  const { width, height } = await (await opened(content)).metadata()
  return width * height <= maxPixels
}

async function inspected(content: Buffer, refusal: () => Refusal): ReturnType<Sharp['metadata']> {
  try {
    return await (await opened(content)).metadata()
  } catch {
    throw refusal()
  }
}

async function opened(content: Buffer): Promise<Sharp> {
  // Loaded on first need: those who ask for vectors alone do not wait for it.
  const { default: sharp } = await import('sharp')
  return sharp(content)
}

function unreadableMask(why: string): Refusal {
  return new Refusal(400, `Invalid mask image. ${why}`, { code: 'invalid_image_file', param: 'mask' })
}
