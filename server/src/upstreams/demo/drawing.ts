/** Draws a text on a coloured background and encodes it as PNG: enough to see what was asked for. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { crc32, deflate } from 'node:zlib'

export interface Drawing {
  readonly text: string
  /** Small, in the corner. */
  readonly label: string
  readonly width: number
  readonly height: number
  readonly isTransparent: boolean
  /** 0 to 1: the share of the text drawn so far. */
  readonly progress: number
}

/** Five columns of seven dots for each character from the space to the tilde, the lowest bit on top. */
const FONT =
  '0000000000 00005f0000 0007000700 147f147f14 242a7f2a12 2313086462 3649552250 0005030000 001c224100 0041221c00 082a1c2a08 08083e0808 0050300000 0808080808 0060600000 2010080402 ' +
  '3e5149453e 00427f4000 4261514946 2141454b31 1814127f10 2745454539 3c4a494930 0171090503 3649494936 064949291e 0036360000 0056360000 0008142241 1414141414 4122140800 0201510906 ' +
  '324979413e 7e1111117e 7f49494936 3e41414122 7f4141221c 7f49494941 7f09090101 3e41415132 7f0808087f 00417f4100 2040413f01 7f08142241 7f40404040 7f0204027f 7f0408107f 3e4141413e ' +
  '7f09090906 3e4151215e 7f09192946 4649494931 01017f0101 3f4040403f 1f2040201f 7f2018207f 6314081463 0304780403 6151494543 00007f4141 0204081020 41417f0000 0402010204 4040404040 ' +
  '0001020400 2054545478 7f48444438 3844444420 384444487f 3854545418 087e090102 081454543c 7f08040478 00447d4000 2040443d00 007f102844 00417f4000 7c04180478 7c08040478 3844444438 ' +
  '7c14141408 081414187c 7c08040408 4854545420 043f444020 3c4040207c 1c2040201c 3c4030403c 4428102844 0c5050503c 4464544c44 0008364100 00007f0000 0041360800 1008081008 '

const GLYPHS = FONT.trim()
  .split(' ')
  .map((columns) => Buffer.from(columns, 'hex'))
/** Drawn for a character that the font lacks. */
const BOX = Buffer.from('7f4141417f', 'hex')
export const CELL_WIDTH = 6
export const CELL_HEIGHT = 9
const MARGIN = 0.08
const LARGEST_DOT = 8

export async function draw(drawing: Drawing): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height, label } = drawing
  const canvas = new Canvas(width, height, groundOf(drawing))
  const inner = { width: width * (1 - 2 * MARGIN), height: height * (1 - 2 * MARGIN) }
  const { dot, lines } = fitted(drawing.text, inner)
  const shown = Math.ceil(drawing.text.length * drawing.progress)
  let left = shown
  const top = Math.max(0, Math.round((height - lines.length * CELL_HEIGHT * dot) / 2))
  for (const [index, line] of lines.entries()) {
    canvas.write(
      line.slice(0, Math.max(0, left)),
      Math.round(width * MARGIN),
      top + index * CELL_HEIGHT * dot,
      { dot },
    )
    left -= line.length
  }
  canvas.write(label, 4, height - CELL_HEIGHT - 2, { dot: 1 })
  return png(canvas)
}

/** Letters of a word that is never broken. Longer ones are addresses, or a language that puts no spaces between words. */
const LONGEST_WORD = 24

/** The largest letters with which the text fits and no word is broken; a text that never fits is cut at the bottom. */
export function fitted(
  text: string,
  { width, height }: { width: number; height: number },
): { dot: number; lines: string[] } {
  const lengths = text.split(/\s+/).map((word) => word.length)
  const longest = Math.max(...lengths.filter((length) => length <= LONGEST_WORD), 0)
  for (let dot = LARGEST_DOT; ; dot -= 1) {
    const columns = Math.max(1, Math.floor(width / (CELL_WIDTH * dot)))
    const lines = wrapped(text, columns)
    const fit = Math.max(1, Math.floor(height / (CELL_HEIGHT * dot)))
    if ((lines.length <= fit && longest <= columns) || dot === 1) return { dot, lines: lines.slice(0, fit) }
  }
}

export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
    for (; line.length > columns; line = line.slice(columns)) lines.push(line.slice(0, columns))
  }
  return [...lines, line]
}

export type Colour = readonly [red: number, green: number, blue: number, alpha: number]

/** Pixels of red, green, blue and alpha, on which text can be written. */
export class Canvas {
  readonly width: number
  readonly height: number
  readonly pixels: Buffer<ArrayBuffer>

  constructor(width: number, height: number, ground: Colour) {
    this.width = width
    this.height = height
    this.pixels = Buffer.alloc(width * height * 4, Buffer.from(ground))
  }

  write(text: string, left: number, top: number, { dot, ink = INK }: { dot: number; ink?: Colour }): void {
    for (const [index, character] of Array.from(text).entries()) {
      const glyph = GLYPHS[character.charCodeAt(0) - 32] ?? BOX
      for (const [column, bits] of glyph.entries()) {
        for (let row = 0; row < 7; row += 1) {
          if ((bits >> row) & 1)
            this.paint({
              left: left + (index * CELL_WIDTH + column) * dot,
              top: top + row * dot,
              width: dot,
              height: dot,
              colour: ink,
            })
        }
      }
    }
  }

  paint(box: { left: number; top: number; width: number; height: number; colour: Colour }): void {
    const right = Math.min(box.left + box.width, this.width)
    for (let y = Math.max(0, box.top); y < Math.min(box.top + box.height, this.height); y += 1) {
      for (let x = Math.max(0, box.left); x < right; x += 1)
        this.pixels.set(box.colour, (y * this.width + x) * 4)
    }
  }

  /** Draws an image on top. What does not fit is left out. */
  lay(top: Pick<Canvas, 'width' | 'height' | 'pixels'>, place: { left: number; top: number }): void {
    const right = Math.min(top.width, this.width - place.left)
    const bottom = Math.min(top.height, this.height - place.top)
    for (let y = Math.max(0, -place.top); y < bottom; y += 1) {
      for (let x = Math.max(0, -place.left); x < right; x += 1)
        this.#layPixel((y + place.top) * this.width + x + place.left, top.pixels, (y * top.width + x) * 4)
    }
  }

  #layPixel(pixel: number, top: Uint8Array, from: number): void {
    const at = pixel * 4
    const alpha = top[from + 3] ?? 0
    const below = ((this.pixels[at + 3] ?? 0) * (255 - alpha)) / 255
    const whole = alpha + below
    if (whole === 0) return
    for (let channel = 0; channel < 3; channel += 1) {
      const mixed = (top[from + channel] ?? 0) * alpha + (this.pixels[at + channel] ?? 0) * below
      this.pixels[at + channel] = Math.round(mixed / whole)
    }
    this.pixels[at + 3] = Math.round(whole)
  }
}

const INK: Colour = [24, 24, 27, 255]

export function groundOf({ text, isTransparent }: Pick<Drawing, 'text' | 'isTransparent'>): Colour {
  if (isTransparent) return [255, 255, 255, 0]
  const [red = 0, green = 0, blue = 0] = createHash('sha256').update(text).digest()
  // Light, so that the letters stand out.
  return [176 + (red % 80), 176 + (green % 80), 176 + (blue % 80), 255]
}

const deflated = promisify(deflate) as (bytes: Buffer, options: { level: number }) => Promise<Buffer>

async function png({ width, height, pixels }: Canvas): Promise<Uint8Array<ArrayBuffer>> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits a channel, red green blue alpha.
  header.set([8, 6, 0, 0, 0], 8)
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  // Each row begins with the byte that names its filter: none.
  const rows = Buffer.alloc(height * (1 + width * 4))
  for (let y = 0; y < height; y += 1)
    pixels.copy(rows, y * (1 + width * 4) + 1, y * width * 4, (y + 1) * width * 4)
  const parts = [
    signature,
    chunk('IHDR', header),
    chunk('IDAT', await deflated(rows, { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ]
  return Buffer.concat(parts)
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, checksum])
}
