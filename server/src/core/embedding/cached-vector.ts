/**
 * A cached vector as bytes, the same on every host:
 *
 *     version     1 byte     another version is another form
 *     deployment  uint16     length of its name in bytes
 *     width       uint32
 *     tokens      uint32
 *     madeAtMs    float64
 *     expiresAtMs float64
 *     …           the deployment's name in UTF-8
 *     …           the values, float32
 *     checksum    uint32     of everything before it
 *
 * All numbers are little-endian. What is shorter, longer, of another version or damaged is no vector.
 */

export interface StoredVector {
  readonly values: Float32Array
  readonly tokens: number
  readonly deployment: string
  readonly madeAtMs: number
  /** Unix milliseconds. */
  readonly expiresAtMs: number
}

/**
 * A 32-bit checksum that also covers the name under which a value is stored: a value under another name counts as damaged.
 */
export type Checksum = (bytes: Uint8Array) => number

const VERSION = 1
const HEADER_BYTES = 27
const CHECKSUM_BYTES = 4
/** Longest name of a deployment: a model's and an upstream's, both far shorter. */
const MAX_DEPLOYMENT_BYTES = 512
const UINT32_MAX = 0xff_ff_ff_ff
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

/** Undefined for a vector that this form can't hold exactly. */
export function bytesOfVector(vector: StoredVector, checksum: Checksum): Uint8Array | undefined {
  const { values, tokens, madeAtMs, expiresAtMs } = vector
  const deployment = utf8Of(vector.deployment)
  if (deployment === undefined || deployment.length > MAX_DEPLOYMENT_BYTES) return undefined
  if (!Number.isInteger(tokens) || tokens < 0 || tokens > UINT32_MAX) return undefined
  if (values.length === 0 || !Number.isFinite(madeAtMs) || !Number.isFinite(expiresAtMs)) return undefined

  const valuesAt = HEADER_BYTES + deployment.length
  const checksumAt = valuesAt + values.byteLength
  const bytes = new Uint8Array(checksumAt + CHECKSUM_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, VERSION)
  view.setUint16(1, deployment.length, true)
  view.setUint32(3, values.length, true)
  view.setUint32(7, tokens, true)
  view.setFloat64(11, madeAtMs, true)
  view.setFloat64(19, expiresAtMs, true)
  bytes.set(deployment, HEADER_BYTES)
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), valuesAt)
  if (!LITTLE_ENDIAN) swapWords(bytes, valuesAt, checksumAt)
  view.setUint32(checksumAt, checksum(bytes.subarray(0, checksumAt)), true)
  return bytes
}

/** Copies the values out of the bytes. Undefined for bytes that are no vector in this form. */
export function vectorOfBytes(bytes: Uint8Array, checksum: Checksum): StoredVector | undefined {
  const checksumAt = bytes.length - CHECKSUM_BYTES
  if (checksumAt < HEADER_BYTES || bytes[0] !== VERSION) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const valuesAt = HEADER_BYTES + view.getUint16(1, true)
  const width = view.getUint32(3, true)
  if (width === 0 || valuesAt + width * 4 !== checksumAt) return undefined
  if (view.getUint32(checksumAt, true) !== checksum(bytes.subarray(0, checksumAt))) return undefined

  const deployment = textOf(bytes.subarray(HEADER_BYTES, valuesAt))
  if (deployment === undefined) return undefined
  const values = new Float32Array(width)
  const own = new Uint8Array(values.buffer)
  own.set(bytes.subarray(valuesAt, checksumAt))
  if (!LITTLE_ENDIAN) swapWords(own, 0, own.length)
  return {
    values,
    tokens: view.getUint32(7, true),
    deployment,
    madeAtMs: view.getFloat64(11, true),
    expiresAtMs: view.getFloat64(19, true),
  }
}

function swapWords(bytes: Uint8Array, start: number, end: number): void {
  for (let at = start; at < end; at += 4) bytes.subarray(at, at + 4).reverse()
}

/** Names repeat: the vectors of one request come from one deployment, or from a few. */
let last: { readonly name: string; readonly bytes: Uint8Array } = { name: '', bytes: new Uint8Array(0) }

/** Undefined for malformed text: it would be read back as another text. */
function utf8Of(name: string): Uint8Array | undefined {
  if (name === last.name) return last.bytes
  if (!name.isWellFormed()) return undefined
  const bytes = Uint8Array.from(encodeURIComponent(name).match(/%..|./g) ?? [], (part) =>
    part.length === 1 ? part.charCodeAt(0) : Number.parseInt(part.slice(1), 16),
  )
  last = { name, bytes }
  return bytes
}

function textOf(bytes: Uint8Array): string | undefined {
  if (isSame(bytes, last.bytes)) return last.name
  if (bytes.length > MAX_DEPLOYMENT_BYTES) return undefined
  try {
    const name = decodeURIComponent(bytes.toHex().replaceAll(/../g, '%$&'))
    last = { name, bytes: bytes.slice() }
    return name
  } catch {
    // No UTF-8.
    return undefined
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false
  return true
}
