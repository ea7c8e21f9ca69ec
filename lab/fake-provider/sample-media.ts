/** Small media of every format, made here: what their headers say is true. For tests. */
import sharp from 'sharp'

export type SampleMedia = { type: string; bytes: Buffer }

/** Another `colour` makes other bytes. */
export async function image(
  format: 'png' | 'jpeg' | 'webp' | 'gif',
  { width = 12, height = 8, colour = 0 }: { width?: number; height?: number; colour?: number } = {},
): Promise<SampleMedia> {
  const background = { r: colour & 255, g: (colour >> 8) & 255, b: 90 }
  const bytes = await sharp({ create: { width, height, channels: 3, background } })
    .toFormat(format)
    .toBuffer()
  return { type: `image/${format}`, bytes }
}

/** 8,000 bytes a second. */
export function wav(seconds: number, level = 128): SampleMedia {
  const bytes = Buffer.alloc(44 + seconds * 8000, level)
  bytes.write('RIFF', 0, 'latin1')
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.write('WAVEfmt ', 8, 'latin1')
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(8000, 24)
  bytes.writeUInt32LE(8000, 28)
  bytes.writeUInt16LE(1, 32)
  bytes.writeUInt16LE(8, 34)
  bytes.write('data', 36, 'latin1')
  bytes.writeUInt32LE(seconds * 8000, 40)
  return { type: 'audio/wav', bytes }
}

/** Frames of 128 kilobits a second at 44,100 Hz: 417 bytes each, 38 a second. */
export function mp3(seconds: number): SampleMedia {
  const frame = Buffer.alloc(417)
  frame.writeUInt32BE(0xfffb9000)
  const frames = Array.from({ length: Math.round((seconds * 44_100) / 1152) }, () => frame)
  return { type: 'audio/mpeg', bytes: Buffer.concat(frames) }
}

/** A video without frames, whose header says how long it is. */
export function video(seconds: number, brand: 'isom' | 'qt  ' = 'isom'): SampleMedia {
  const header = Buffer.alloc(100)
  header.writeUInt32BE(1000, 12)
  header.writeUInt32BE(seconds * 1000, 16)
  const bytes = Buffer.concat([
    box('ftyp', Buffer.from(`${brand}\0\0\0\0${brand}`, 'latin1')),
    box('moov', box('mvhd', header)),
  ])
  return { type: brand === 'isom' ? 'video/mp4' : 'video/quicktime', bytes }
}

function box(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(content.length + 8)
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, content])
}

export function pdf(pages: number): SampleMedia {
  const kids = Array.from({ length: pages }, (_, page) => `${page + 3} 0 R`)
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pages} >>`,
    ...kids.map(() => '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>'),
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`)
  const size = objects.length + 1
  text += `xref\n0 ${size}\n0000000000 65535 f \n${rows.join('')}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`
  return { type: 'application/pdf', bytes: Buffer.from(text, 'latin1') }
}

export function dataUri({ type, bytes }: SampleMedia): string {
  return `data:${type};base64,${bytes.toString('base64')}`
}
