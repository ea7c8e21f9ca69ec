/** Small media of every format, written by hand, with what their headers say. */
import sharp from 'sharp'

const text = (value: string): Buffer => Buffer.from(value, 'latin1')

function big(value: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  if (length === 8) bytes.writeBigUInt64BE(BigInt(value))
  else bytes.writeUIntBE(value, 0, length)
  return bytes
}

function little(value: number, length: number): Buffer {
  return length === 8 ? Buffer.from(big(value, 8).reverse()) : Buffer.from(big(value, length).reverse())
}

/** `announced`: bytes of samples that the header gives, where it is not their number. */
export function wavOf(
  seconds: number,
  { rate = 8000, announced }: { rate?: number; announced?: number } = {},
): Buffer {
  const samples = Buffer.alloc(Math.round(seconds * rate) * 2)
  const format = [
    little(1, 2),
    little(1, 2),
    little(rate, 4),
    little(rate * 2, 4),
    little(2, 2),
    little(16, 2),
  ]
  const chunks = [text('fmt '), little(16, 4), ...format, text('LIST'), little(3, 4), text('abc\0')]
  const data = [text('data'), little(announced ?? samples.length, 4), samples]
  return Buffer.concat([text('RIFF'), little(4, 4), text('WAVE'), ...chunks, ...data])
}

export function flacOf(seconds: number, rate = 44_100): Buffer {
  const info = Buffer.alloc(18)
  info.writeUIntBE(rate * 16, 0, 3)
  info[3] = Math.floor((seconds * rate) / 2 ** 32)
  info.writeUInt32BE((seconds * rate) % 2 ** 32, 4)
  return Buffer.concat([
    text('fLaC'),
    big(0x80, 1),
    big(34, 3),
    Buffer.alloc(10),
    info.subarray(0, 8),
    Buffer.alloc(16 + 200),
  ])
}

const MP3_FRAME = Buffer.from([0xff, 0xfb, 0x90, 0xc0])

/** MPEG 1, layer III, 128 kbit/s, 44.1 kHz, mono. */
export function mp3Of({
  frames,
  header,
  tag = 0,
}: {
  frames: number
  header?: 'Xing' | 'VBRI'
  tag?: number
}): Buffer {
  const frame = Buffer.alloc(417)
  MP3_FRAME.copy(frame)
  const first = Buffer.from(frame)
  if (header === 'Xing') Buffer.concat([text('Xing'), big(1, 4), big(frames, 4)]).copy(first, 21)
  if (header === 'VBRI') Buffer.concat([text('VBRI'), Buffer.alloc(10), big(frames, 4)]).copy(first, 36)
  const id3 =
    tag === 0 ? [] : [text('ID3\x04\0\0'), Buffer.from([0, 0, tag >> 7, tag & 0x7f]), Buffer.alloc(tag)]
  return Buffer.concat([...id3, first, ...Array.from({ length: frames - 1 }, () => frame)])
}

function oggPage(position: bigint, packet: Buffer): Buffer {
  const place = Buffer.alloc(8)
  place.writeBigInt64LE(position)
  return Buffer.concat([
    text('OggS\0\x02'),
    place,
    Buffer.alloc(12),
    big(1, 1),
    big(packet.length, 1),
    packet,
  ])
}

export function oggOf(seconds: number, codec: 'opus' | 'vorbis' | 'theora' | 'speex' = 'opus'): Buffer {
  const rest = Buffer.alloc(20)
  const heads = {
    opus: Buffer.concat([text('OpusHead\x01\x01'), little(312, 2), rest]),
    vorbis: Buffer.concat([text('\x01vorbis'), little(0, 4), big(1, 1), little(44_100, 4), rest]),
    theora: Buffer.concat([text('\x80theora'), rest]),
    speex: Buffer.concat([text('Speex   '), rest]),
  }
  const last = codec === 'opus' ? seconds * 48_000 + 312 : seconds * 44_100
  const pages = Array.from({ length: 900 }, (_, index) => oggPage(BigInt(index), Buffer.alloc(255)))
  return Buffer.concat([
    oggPage(0n, heads[codec]),
    ...pages,
    oggPage(BigInt(last), Buffer.alloc(9)),
    oggPage(-1n, Buffer.alloc(9)),
  ])
}

export function box(name: string, ...inner: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(inner)
  return Buffer.concat([big(bytes.length + 8, 4), text(name), bytes])
}

interface Movie {
  readonly seconds: number
  readonly brand?: string
  readonly isLong?: boolean
  readonly isIndexLast?: boolean
  readonly isFragmented?: boolean
}

export function mp4Of({
  seconds,
  brand = 'isom',
  isLong = false,
  isIndexLast = false,
  isFragmented = false,
}: Movie): Buffer {
  const width = isLong ? 8 : 4
  const length = big(isFragmented ? 0 : seconds * 1000, width)
  const mvhd = box(
    'mvhd',
    big(isLong ? 1 : 0, 1),
    big(0, 3),
    big(0, width),
    big(0, width),
    big(1000, 4),
    length,
    Buffer.alloc(80),
  )
  const mvex = isFragmented ? [box('mvex', box('mehd', big(0, 4), big(seconds * 1000, 4)))] : []
  const index = box('moov', box('free', Buffer.alloc(5)), mvhd, box('trak', Buffer.alloc(100)), ...mvex)
  const samples = box('mdat', Buffer.alloc(3000, 0x55))
  const start = brand === '' ? box('wide') : box('ftyp', text(brand), big(512, 4), text('isomiso2'))
  return Buffer.concat([start, ...(isIndexLast ? [samples, index] : [index, samples])])
}

function element(id: string, inner: Buffer): Buffer {
  return Buffer.concat([Buffer.from(id, 'hex'), big(1, 1), big(0, 1), big(inner.length, 6), inner])
}

export function webmOf(seconds: number | undefined, type = 'webm'): Buffer {
  const duration = Buffer.alloc(8)
  duration.writeDoubleBE((seconds ?? 0) * 1000)
  const info = [
    element('2ad7b1', big(1_000_000, 4)),
    ...(seconds === undefined ? [] : [element('4489', duration)]),
  ]
  const segment = [
    element('ec', Buffer.alloc(40)),
    element('1549a966', Buffer.concat(info)),
    element('1f43b675', Buffer.alloc(900)),
  ]
  const endless = Buffer.from('1853806701ffffffffffffff', 'hex')
  return Buffer.concat([element('1a45dfa3', element('4282', text(type))), endless, ...segment])
}

export function pdfOf(
  pages: number,
  { isCompressed = false, linearized }: { isCompressed?: boolean; linearized?: number } = {},
): Buffer {
  const first =
    linearized === undefined ? '' : `1 0 obj\n<< /Linearized 1 /L 900 /O 4 /N ${linearized} >>\nendobj\n`
  const list = Array.from({ length: pages }, (_, index) =>
    index % 2 === 0 ? `<</Type/Page/Parent 2 0 R>>` : `<< /Type\r\n /Page >>`,
  )
  const hidden = isCompressed ? '<< /Type /ObjStm /N 5 >> stream\nxyz/Typ\nendstream' : ''
  const body = `<< /Type /Catalog /Pages 2 0 R >>\n<< /Type /Pages /Count ${pages} >>\n${list.join('\n')}\n${hidden}`
  return text(`%PDF-1.7\n${first}${body}\n${'stream data / with /Pag \0\xff'.repeat(60)}\n%%EOF\n`)
}

export async function gifOf(width: number, height: number, frames = 1): Promise<Buffer> {
  const raw = Buffer.alloc(width * height * frames * 3, 7)
  for (let frame = 0; frame < frames; frame += 1)
    raw.fill(frame * 40, frame * width * height * 3, (frame + 1) * width * height * 3)
  return sharp(raw, { raw: { width, height: height * frames, channels: 3, pageHeight: height } })
    .gif()
    .toBuffer()
}

export function pngOf(width: number, height: number): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: '#357' } })
    .png()
    .toBuffer()
}
