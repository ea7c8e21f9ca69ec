import { createHash } from 'node:crypto'
import { drawable, glyphHeight, glyphOf, glyphWidth } from './font.ts'

export type Drawing = {
  prompt: string
  /** From 1, of `of` pictures in the same answer. */
  number: number
  of: number
  /** Tells two purchases of the same prompt apart. */
  serial: number
  width: number
  height: number
  transparent: boolean
  /** Which preview it is, from 1; null for the picture itself. */
  preview: number | null
}

/** One dot of space after each character, two between lines. */
const advance = glyphWidth + 1
const lineHeight = glyphHeight + 2

type Canvas = { pixels: Uint32Array; width: number; height: number }

/** The prompt on a colour of its own, within a border: RGBA, row by row. */
export function drawn(drawing: Drawing): Buffer {
  const { width, height, transparent } = drawing
  const canvas = { pixels: new Uint32Array(width * height), width, height }
  const { background, ink } = coloursOf(drawing)
  if (!transparent) canvas.pixels.fill(background)
  const colour = transparent ? background : ink
  const border = Math.max(1, Math.round(Math.min(width, height) / 64))
  drawBorder(canvas, border, colour)
  drawTexts(canvas, drawing, border * 2, colour)
  return Buffer.from(canvas.pixels.buffer)
}

/** Colours of prompt and number alone, so that the pictures of one answer differ at a glance. */
function coloursOf({ prompt, number }: Drawing): { background: number; ink: number } {
  const [red = 0, green = 0, blue = 0] = createHash('sha256').update(`${number} ${prompt}`).digest()
  const brightness = 0.299 * red + 0.587 * green + 0.114 * blue
  return { background: rgb(red, green, blue), ink: brightness > 128 ? rgb(0, 0, 0) : rgb(255, 255, 255) }
}

/** Opaque; the lowest byte is the first in memory. */
function rgb(red: number, green: number, blue: number): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0
}

function drawBorder(canvas: Canvas, thickness: number, colour: number): void {
  const { width, height } = canvas
  fill(canvas, { left: 0, top: 0, width, height: thickness }, colour)
  fill(canvas, { left: 0, top: height - thickness, width, height: thickness }, colour)
  fill(canvas, { left: 0, top: 0, width: thickness, height }, colour)
  fill(canvas, { left: width - thickness, top: 0, width: thickness, height }, colour)
}

/** What the picture is, above; the prompt as large as it fits; size and serial, below. */
function drawTexts(canvas: Canvas, drawing: Drawing, margin: number, colour: number): void {
  const { number, of, preview, serial, width, height } = drawing
  const room = { width: width - 2 * margin, height: height - 2 * margin }
  const small = Math.max(1, Math.floor(room.width / (advance * 24)))
  const label = preview === null ? `${number} of ${of}` : `${number} of ${of}, preview ${preview}`
  drawLines(canvas, [label], { left: margin, top: margin, scale: small }, colour)
  const footTop = height - margin - lineHeight * small
  drawLines(canvas, [`${width}x${height} #${serial}`], { left: margin, top: footTop, scale: small }, colour)
  const top = margin + Math.round(lineHeight * small * 1.5)
  const { lines, scale } = fitted(drawable(drawing.prompt), room.width, footTop - top)
  drawLines(canvas, lines, { left: margin, top, scale }, colour)
}

/** The largest letters, up to sixteen in a line, with which the whole text fits; at the smallest, the rest is left out. */
function fitted(text: string, width: number, height: number): { lines: string[]; scale: number } {
  const largest = Math.max(1, Math.floor(width / (advance * 16)))
  for (let scale = largest; scale >= 1; scale--) {
    const lines = wrapped(text, Math.max(1, Math.floor(width / (advance * scale))))
    const fits = Math.max(0, Math.floor(height / (lineHeight * scale)))
    if (lines.length <= fits) return { lines, scale }
    if (scale === 1) return { lines: lines.slice(0, fits), scale }
  }
  return { lines: [], scale: 1 }
}

function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  let line: string[] = []
  for (const word of text.split(' ')) {
    let letters = Array.from(word)
    if (line.length > 0 && line.length + 1 + letters.length <= columns) {
      line.push(' ', ...letters)
      continue
    }
    if (line.length > 0) lines.push(line.join(''))
    for (; letters.length > columns; letters = letters.slice(columns)) {
      lines.push(letters.slice(0, columns).join(''))
    }
    line = letters
  }
  return line.length > 0 ? [...lines, line.join('')] : lines
}

function drawLines(
  canvas: Canvas,
  lines: string[],
  { left, top, scale }: { left: number; top: number; scale: number },
  colour: number,
): void {
  for (const [row, line] of lines.entries()) {
    for (const [column, character] of Array.from(line).entries()) {
      const corner = { left: left + column * advance * scale, top: top + row * lineHeight * scale }
      drawCharacter(canvas, character, { ...corner, scale }, colour)
    }
  }
}

function drawCharacter(
  canvas: Canvas,
  character: string,
  { left, top, scale }: { left: number; top: number; scale: number },
  colour: number,
): void {
  for (const [row, dots] of glyphOf(character).entries()) {
    for (let column = 0; column < glyphWidth; column++) {
      if ((dots & (1 << (glyphWidth - 1 - column))) === 0) continue
      const dot = { left: left + column * scale, top: top + row * scale, width: scale, height: scale }
      fill(canvas, dot, colour)
    }
  }
}

/** What lies outside of the canvas is not drawn. */
function fill(
  { pixels, width, height }: Canvas,
  area: { left: number; top: number; width: number; height: number },
  colour: number,
): void {
  const right = Math.min(width, area.left + area.width)
  const bottom = Math.min(height, area.top + area.height)
  if (area.left >= right) return
  for (let row = area.top; row < bottom; row++) {
    pixels.fill(colour, row * width + area.left, row * width + right)
  }
}
