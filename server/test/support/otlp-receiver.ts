/** A receiver of OTLP traces that reads protobuf by its specification alone: tag, length, value. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly traceState: string
  readonly name: string
  readonly kind: number
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isError: boolean
}

export interface OtlpReceiver {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  readonly resources: readonly Readonly<Record<string, unknown>>[]
  readonly requests: readonly { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[]
  /** From now on it answers so. */
  answerWith(status: number): void
  close(): Promise<void>
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const resources: Record<string, unknown>[] = []
  const requests: { path: string; headers: Record<string, unknown> }[] = []
  let status = 200
  const server = createServer((request, response) => void take(request, response))
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    requests.push({ path: request.url ?? '', headers: request.headers })
    if (status === 200)
      for (const resourceSpans of fieldsOf(body).bytes(1)) {
        const inside = fieldsOf(resourceSpans)
        for (const resource of inside.bytes(1)) resources.push(attributesOf(fieldsOf(resource).bytes(1)))
        for (const scope of inside.bytes(2)) spans.push(...fieldsOf(scope).bytes(2).map(spanOf))
      }
    response.setHeader('content-type', 'application/x-protobuf')
    response.writeHead(status).end()
  }
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    requests,
    answerWith(one) {
      status = one
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

type Value = bigint | Buffer

class Fields {
  readonly #values = new Map<number, Value[]>()

  add(field: number, value: Value): void {
    this.#values.set(field, [...(this.#values.get(field) ?? []), value])
  }

  bytes(field: number): Buffer[] {
    return (this.#values.get(field) ?? []).map((value) => value as Buffer)
  }

  text(field: number): string {
    return this.bytes(field).at(-1)?.toString('utf8') ?? ''
  }

  hex(field: number): string {
    return this.bytes(field).at(-1)?.toString('hex') ?? ''
  }

  number(field: number): bigint | undefined {
    return this.#values.get(field)?.at(-1) as bigint | undefined
  }
}

function fieldsOf(bytes: Buffer): Fields {
  const fields = new Fields()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++)
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const [field, wire] = [tag >>> 3, tag & 7]
    if (wire === 0) fields.add(field, varint())
    else if (wire === 1) fields.add(field, bytes.readBigUInt64LE((at += 8) - 8))
    else if (wire === 5) fields.add(field, BigInt(bytes.readUInt32LE((at += 4) - 4)))
    else if (wire === 2) {
      const length = Number(varint())
      if (at + length > bytes.length) throw new Error(`field ${field} is longer than its message`)
      fields.add(field, bytes.subarray(at, (at += length)))
    } else throw new Error(`field ${field} has wire type ${wire}`)
  }
  return fields
}

function spanOf(bytes: Buffer): ReceivedSpan {
  const fields = fieldsOf(bytes)
  return {
    traceId: fields.hex(1),
    spanId: fields.hex(2),
    traceState: fields.text(3),
    parentSpanId: fields.hex(4),
    name: fields.text(5),
    kind: Number(fields.number(6)),
    startNs: fields.number(7) ?? 0n,
    endNs: fields.number(8) ?? 0n,
    attributes: attributesOf(fields.bytes(9)),
    isError: fields.bytes(15).some((status) => fieldsOf(status).number(3) === 2n),
  }
}

function attributesOf(pairs: readonly Buffer[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const fields = fieldsOf(pair)
      return [fields.text(1), valueOf(fieldsOf(fields.bytes(2)[0] as Buffer))]
    }),
  )
}

function valueOf(value: Fields): unknown {
  const flag = value.number(2)
  if (flag !== undefined) return flag === 1n
  const whole = value.number(3)
  if (whole !== undefined) return Number(whole)
  const bits = value.number(4)
  if (bits !== undefined) return Buffer.from(new BigUint64Array([bits]).buffer).readDoubleLE()
  const [array] = value.bytes(5)
  if (array !== undefined)
    return fieldsOf(array)
      .bytes(1)
      .map((one) => valueOf(fieldsOf(one)))
  return value.text(1)
}
