/**
 * Writes PNG files row by row, so that an image of 24 megapixels is never in memory as pixels. A canvas would do the
 * same, but it multiplies colours by their alpha first: what comes out is not what went in.
 */

/** Rows of RGBA, from the top: any number of whole rows at once. */
export type Rows = Iterable<Uint8Array | Uint8ClampedArray> | AsyncIterable<Uint8Array | Uint8ClampedArray>

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
/** Eight bits a channel, red, green, blue, alpha. */
const RGBA = Uint8Array.of(8, 6, 0, 0, 0)
const BYTES_A_PIXEL = 4

export async function pngOf(width: number, height: number, rows: Rows): Promise<Blob> {
  const head = new Uint8Array(13)
  const view = new DataView(head.buffer)
  view.setUint32(0, width)
  view.setUint32(4, height)
  head.set(RGBA, 8)
  const deflating = new CompressionStream('deflate')
  const packed = new Response(deflating.readable).arrayBuffer()
  const writer = deflating.writable.getWriter()
  for await (const piece of rows) await writer.write(filtered(piece, width))
  await writer.close()
  const data = new Uint8Array(await packed)
  return new Blob([SIGNATURE, chunk('IHDR', head), chunk('IDAT', data), chunk('IEND', new Uint8Array())], {
    type: 'image/png',
  })
}

/** Each row begins with the number of its filter: none. */
function filtered(rows: Uint8Array | Uint8ClampedArray, width: number): Uint8Array<ArrayBuffer> {
  const length = width * BYTES_A_PIXEL
  const many = rows.length / length
  const result = new Uint8Array(many * (length + 1))
  for (let row = 0; row < many; row += 1)
    result.set(rows.subarray(row * length, (row + 1) * length), row * (length + 1) + 1)
  return result
}

function chunk(name: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.length + 12)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, data.length)
  bytes.set(new TextEncoder().encode(name), 4)
  bytes.set(data, 8)
  view.setUint32(data.length + 8, checksum(bytes.subarray(4, data.length + 8)))
  return bytes
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb8_8320 ^ (value >>> 1) : value >>> 1
  return value
})

/** CRC-32, as PNG wants it. */
function checksum(bytes: Uint8Array): number {
  let value = 0xffff_ffff
  for (const byte of bytes) value = (TABLE[(value ^ byte) & 255] ?? 0) ^ (value >>> 8)
  return ~value >>> 0
}
