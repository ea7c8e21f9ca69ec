/**
 * OTLP's protobuf messages, encoded by hand: a few fields of a stable format. The official exporter and its
 * SDK are made for spans that are open while work is in progress; ours are made afterwards, together, and
 * only have to be encoded.
 */
type AttributeValue = string | number | readonly string[] | undefined

/** Undefined attributes are omitted. */
export type Attributes = Readonly<Record<string, AttributeValue>>

const FIRST_BYTES = 4096
/** Largest size of a tag, a length and a number. */
const MAX_NUMBER_BYTES = 16
/** Lengths of nested messages are written in three bytes, which a varint allows. */
const LENGTH_BYTES = 3
const MAX_MESSAGE_BYTES = 2 ** (7 * LENGTH_BYTES) - 1

/** Protobuf's encodings of a field. */
const Wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

export class OtlpWriter {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES)
  #at = 0

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe((this.#buffer.length + bytes) * 2)
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }

  #varint(value: number): void {
    let rest = value
    while (rest >= 128) {
      this.#buffer[this.#at++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.#buffer[this.#at++] = rest
  }

  #tag(field: number, wire: (typeof Wire)[keyof typeof Wire]): void {
    this.#room(MAX_NUMBER_BYTES)
    this.#varint(field * 8 + wire)
  }

  text(field: number, text: string): void {
    this.#tag(field, Wire.bytes)
    const bytes = Buffer.byteLength(text)
    this.#varint(bytes)
    this.#room(bytes)
    this.#at += this.#buffer.write(text, this.#at, 'utf8')
  }

  hex(field: number, digits: string): void {
    this.#tag(field, Wire.bytes)
    this.#varint(digits.length / 2)
    this.#room(digits.length)
    this.#at += this.#buffer.write(digits, this.#at, 'hex')
  }

  bytes(field: number, bytes: Uint8Array): void {
    this.#tag(field, Wire.bytes)
    this.#varint(bytes.length)
    this.#room(bytes.length)
    this.#buffer.set(bytes, this.#at)
    this.#at += bytes.length
  }

  whole(field: number, value: number): void {
    this.#tag(field, Wire.varint)
    this.#varint(value)
  }

  double(field: number, value: number): void {
    this.#tag(field, Wire.fixed64)
    this.#at = this.#buffer.writeDoubleLE(value, this.#at)
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, Wire.fixed32)
    this.#at = this.#buffer.writeUInt32LE(value, this.#at)
  }

  nanoseconds(field: number, ms: number): void {
    this.#tag(field, Wire.fixed64)
    const wholeMs = Math.floor(ms)
    const value = BigInt(wholeMs) * 1_000_000n + BigInt(Math.round((ms - wholeMs) * 1e6))
    this.#at = this.#buffer.writeBigUInt64LE(value, this.#at)
  }

  message(field: number, write: () => void): void {
    this.#tag(field, Wire.bytes)
    const start = this.#at + LENGTH_BYTES
    this.#at = start
    write()
    const length = this.#at - start
    if (length > MAX_MESSAGE_BYTES)
      throw new RangeError(`a message of ${length} bytes is too long for OTLP here`)
    this.#buffer[start - 3] = (length & 127) | 128
    this.#buffer[start - 2] = ((length >>> 7) & 127) | 128
    this.#buffer[start - 1] = length >>> 14
  }

  written(): Buffer {
    return this.#buffer.subarray(0, this.#at)
  }
}

export function writeAttributes(writer: OtlpWriter, field: number, attributes: Attributes): void {
  for (const name in attributes) {
    const value = attributes[name]
    if (value === undefined) continue
    writer.message(field, () => {
      writer.text(1, name)
      writer.message(2, () => writeValue(writer, value))
    })
  }
}

function writeValue(writer: OtlpWriter, value: Exclude<AttributeValue, undefined>): void {
  if (typeof value === 'string') writer.text(1, value)
  else if (typeof value !== 'number')
    writer.message(5, () => {
      for (const one of value) writer.message(1, () => writer.text(1, one))
    })
  else if (Number.isSafeInteger(value) && value >= 0) writer.whole(3, value)
  else writer.double(4, value)
}

/** The sender: the service, and the program. */
export interface Sender {
  readonly resource: Readonly<Record<string, string>>
  readonly scope: { readonly name: string; readonly version: string }
}

/** An `ExportTraceServiceRequest`. */
export function encodeExport({ resource, scope }: Sender, parts: readonly Uint8Array[]): Buffer {
  const resources = new OtlpWriter()
  resources.message(1, () => writeAttributes(resources, 1, resource))
  const scoped = new OtlpWriter()
  scoped.message(1, () => {
    scoped.text(1, scope.name)
    scoped.text(2, scope.version)
  })
  const ofScope = Buffer.concat([scoped.written(), ...parts])
  const inside = new OtlpWriter()
  inside.bytes(2, ofScope)
  const whole = new OtlpWriter()
  whole.bytes(1, Buffer.concat([resources.written(), inside.written()]))
  return whole.written()
}
