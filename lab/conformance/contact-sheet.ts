/** All pictures at a glance: a block for each client, a line for each kind of upstream. */
import type { OverlayOptions, Raw, Sharp } from 'sharp'
import sharp from 'sharp'
import { drawn } from '../fake-provider/images/draw.ts'

interface SheetLine {
  readonly label: string
  /** Undefined leaves the place empty. */
  readonly files: readonly (string | undefined)[]
}

export interface SheetBlock {
  readonly label: string
  readonly lines: readonly SheetLine[]
}

const tile = { width: 96, height: 72 }
const labelWidth = 120
const gap = 4
/** What screens are wide. */
const blocksAbreast = 3

export async function writeContactSheet(blocks: readonly SheetBlock[], file: string): Promise<void> {
  const columns = Math.max(...blocks.flatMap(({ lines }) => lines.map(({ files }) => files.length)))
  const lines = Math.max(...blocks.map((block) => block.lines.length))
  const width = labelWidth + columns * (tile.width + gap) + 4 * gap
  const height = (lines + 1) * (tile.height + gap) + 4 * gap
  const composed: OverlayOptions[] = []
  for (const [index, block] of blocks.entries()) {
    const left = (index % blocksAbreast) * width + gap
    const top = Math.floor(index / blocksAbreast) * height + gap
    composed.push(...(await composedBlock(block, left, top)))
  }
  await sharp({
    create: {
      width: Math.min(blocks.length, blocksAbreast) * width,
      height: Math.ceil(blocks.length / blocksAbreast) * height,
      channels: 3,
      background: 'white',
    },
  })
    .composite(composed)
    .png()
    .toFile(file)
}

async function composedBlock(
  { label, lines }: SheetBlock,
  left: number,
  top: number,
): Promise<OverlayOptions[]> {
  const composed: OverlayOptions[] = [{ ...labelled(label, labelWidth * 2), left, top }]
  for (const [index, line] of lines.entries()) {
    const lineTop = top + (index + 1) * (tile.height + gap)
    composed.push({ ...labelled(line.label, labelWidth), left, top: lineTop })
    for (const [column, file] of line.files.entries()) {
      if (file === undefined) continue
      const input = await thumbnailOf(file)
      composed.push({
        input,
        raw: { ...tile, channels: 3 },
        left: left + labelWidth + gap + column * (tile.width + gap),
        top: lineTop,
      })
    }
  }
  return composed
}

/** Red where the file is no picture. */
async function thumbnailOf(file: string): Promise<Buffer> {
  const red = { ...tile, channels: 3, background: 'red' } as const
  try {
    return await fitted(sharp(file))
  } catch {
    return fitted(sharp({ create: red }))
  }
}

function fitted(picture: Sharp): Promise<Buffer> {
  return picture
    .resize({ ...tile, fit: 'contain', background: 'lightgrey' })
    .removeAlpha()
    .raw()
    .toBuffer()
}

/** In the letters of the fake provider: fonts of the machine are not relied on. */
function labelled(prompt: string, width: number): { input: Buffer; raw: Raw } {
  const { height } = tile
  const place = { number: 1, of: 1, serial: 0, preview: null }
  const input = drawn({ ...place, prompt, width, height, transparent: false })
  return { input, raw: { width, height, channels: 4 } }
}
