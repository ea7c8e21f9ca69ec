/**
 * Draws the images of the space guard's probes and prints what `core/embedding/probe-images.ts` says of them. It was run once: another
 * version of the drawing library or another font makes other bytes, and the committed images must never change. `--out <folder>`.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import sharp, { type Sharp } from 'sharp'

/** A side that image models scale to, so that most of them read the pixels as they are. */
const SIDE = 224

/** A sunset over hills and water: smooth gradients, edges, texture and saturated colours, as photographs have. */
function scene(): Sharp {
  const pixels = Buffer.alloc(SIDE * SIDE * 3)
  for (let y = 0; y < SIDE; y += 1)
    for (let x = 0; x < SIDE; x += 1) pixels.set(sceneColour(x / SIDE, y / SIDE), (y * SIDE + x) * 3)
  return sharp(pixels, { raw: { width: SIDE, height: SIDE, channels: 3 } })
}

function sceneColour(x: number, y: number): readonly [number, number, number] {
  const horizon = 0.58
  const ripple = 0.5 + 0.5 * Math.sin(90 * y + 7 * Math.sin(14 * x))
  if (y > horizon) return [60 + 120 * ripple * (1 - Math.abs(x - 0.65)), 70 + 50 * ripple, 110 + 40 * (1 - y)]
  const hill = horizon - 0.16 - 0.09 * Math.sin(5 * x + 1) - 0.02 * Math.sin(31 * x)
  const grain = 12 * Math.sin(900 * x * y + 70 * x)
  if (y > hill) return [40 + 60 * x + grain, 85 + 70 * (y - hill) * 4 + grain, 45]
  const sun = Math.hypot(x - 0.65, y - 0.22)
  if (sun < 0.09) return [255, 236, 170]
  const glow = Math.exp(-6 * sun)
  return [120 + 135 * glow, 150 + 60 * glow - 40 * y, 215 - 110 * glow]
}

const PAGE_LINES = [
  'Harbour log, 14 March',
  'Wind north-west 5, swell 2.1 m.',
  'Three ships passed before noon;',
  'the fourth turned back at 13:40.',
  'Lamp oil: 18 litres left.',
  'Invoice 2024-0117: 178.14',
  'Signed, the keeper',
]

/** A page with text, as scans and screenshots have. */
function page(): Sharp {
  const lines = PAGE_LINES.map((line, index) => {
    const size = index === 0 ? 18 : 12
    return `<text x="14" y="${34 + index * 27}" font-family="sans-serif" font-size="${size}">${line}</text>`
  })
  return drawn(`<rect width="${SIDE}" height="${SIDE}" fill="#fbf9f2"/>${lines.join('')}`)
}

/** A chart: flat colours, straight edges and small figures. */
function chart(): Sharp {
  const bars = [42, 96, 71, 130, 58].map((height, index) => {
    const x = 34 + index * 36
    const label = `<text x="${x + 4}" y="206" font-family="sans-serif" font-size="11">Q${index + 1}</text>`
    return `<rect x="${x}" y="${190 - height}" width="24" height="${height}" fill="${BAR_COLOURS[index]}"/>${label}`
  })
  const axes = '<path d="M26 24V190H214" fill="none" stroke="#222" stroke-width="2"/>'
  const line =
    '<path d="M46 150L82 104L118 120L154 48L190 88" fill="none" stroke="#d62728" stroke-width="3"/>'
  return drawn(`<rect width="${SIDE}" height="${SIDE}" fill="white"/>${axes}${bars.join('')}${line}`)
}

const BAR_COLOURS = ['#1f77b4', '#2ca02c', '#9467bd', '#ff7f0e', '#17becf']

function drawn(inside: string): Sharp {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${SIDE}" height="${SIDE}">${inside}</svg>`
  return sharp(Buffer.from(svg)).removeAlpha()
}

const { values: options } = parseArgs({ options: { out: { type: 'string' } } })
if (options.out === undefined) throw new Error('Name a folder with --out.')
const images = {
  'scene.jpg': await scene().jpeg({ quality: 85 }).toBuffer(),
  'page.png': await page().png({ compressionLevel: 9 }).toBuffer(),
  'chart.png': await chart().png({ compressionLevel: 9 }).toBuffer(),
}
for (const [name, bytes] of Object.entries(images)) {
  writeFileSync(join(options.out, name), bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  process.stdout.write(`${name} ${bytes.length} bytes ${sha256}\n`)
}
