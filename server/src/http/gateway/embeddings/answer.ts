/** Writes an embeddings answer: in one write when it is small, else in steps that leave the event loop free. */
import { asciiJson } from '#core/text/json-text.ts'
import type { ServerResponse } from 'node:http'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import type { Encoding } from '#core/catalog/catalog.ts'
import { textLengthOf, typedFields } from '#core/embedding/typed-text.ts'
import { usageText } from '#core/embedding/usage-text.ts'
import { base64LengthOf, base64Of, jsonOf, type Vector } from '#core/embedding/vector.ts'
import { costText } from '#core/money/price.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import type { EmbedResult } from '#request/embeddings/embed-result.ts'
import { rateHeaders } from '../../rate-headers.ts'
import { drained, headerText } from '../caller/writing.ts'

/** Size up to which an answer is one string in one write; building a larger one would block the event loop. */
const SMALL_BYTES = 256 * 1024
/** A step of a large answer: about a millisecond of number writing. */
const STEP_BYTES = 128 * 1024
/** Average bytes of a number: digits, sign, point and comma. */
const BYTES_PER_NUMBER = 13

export interface AnswerMeta {
  readonly requestId: string
  /** The model as the caller wrote it, echoed as `model`. */
  readonly asked: string
  readonly encoding: Encoding
  /** The value of `server-timing`; undefined if the header is left out. */
  readonly timing: string | undefined
  /** The value of `x-torana-model-ends`; undefined if the header is left out. */
  readonly ends: string | undefined
  /** Receives the number of bytes written. */
  readonly trace: Pick<RequestTrace, 'bytesOut'>
}

/** Undefined when the whole answer was handed to the response at once. */
export function writeEmbeddings(
  response: ServerResponse,
  embedded: EmbedResult,
  meta: AnswerMeta,
): Promise<void> | undefined {
  const { vectors, views } = embedded
  const bytesPerVector = textBytesOf(embedded, meta.encoding)
  const headers = headersOf(embedded, meta)
  if (vectors.length * bytesPerVector > SMALL_BYTES) {
    response.writeHead(200, headers)
    return writeInSteps(response, embedded, meta)
  }
  let body = OPENING
  for (let index = 0; index < vectors.length; index += 1)
    body += itemOf(vectors[index] as Vector, index, meta.encoding, views)
  body += closing(embedded, meta.asked)
  // Every character is ASCII, so its length is its size.
  headers.push('content-length', String(body.length))
  meta.trace.bytesOut = body.length
  response.writeHead(200, headers)
  response.end(body, 'latin1')
  return undefined
}

async function writeInSteps(
  response: ServerResponse,
  embedded: EmbedResult,
  { asked, encoding, trace }: AnswerMeta,
): Promise<void> {
  const { vectors, views } = embedded
  let step = OPENING
  for (let index = 0; index < vectors.length; index += 1) {
    step += itemOf(vectors[index] as Vector, index, encoding, views)
    if (step.length < STEP_BYTES) continue
    trace.bytesOut += step.length
    if (!response.write(step, 'latin1')) await drained(response)
    step = ''
    await yieldLoop()
    // A client that left needs nothing more. Its request is already charged.
    if (response.destroyed) return
  }
  step += closing(embedded, asked)
  trace.bytesOut += step.length
  response.end(step, 'latin1')
}

const OPENING = '{"object":"list","data":['

/** About the size of one vector of the answer. */
function textBytesOf({ views, width }: EmbedResult, encoding: Encoding): number {
  if (views !== undefined) return textLengthOf(views, width, encoding)
  return encoding === 'base64' ? base64LengthOf(width) : width * BYTES_PER_NUMBER
}

function itemOf(vector: Vector, index: number, encoding: Encoding, views: EmbedResult['views']): string {
  const comma = index === 0 ? '' : ','
  if (views !== undefined)
    return `${comma}{"object":"embedding","index":${index},${typedFields(vector, views, encoding, asciiOf)}}`
  if (encoding === 'base64') {
    return `${comma}{"object":"embedding","index":${index},"embedding":"${base64Of(vector)}"}`
  }
  return `${comma}{"object":"embedding","index":${index},"embedding":${asciiOf(jsonOf(vector))}}`
}

function asciiOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

function closing({ usage, extraFields }: EmbedResult, asked: string): string {
  let rest = `],"model":${asciiJson(asked)},"usage":${usageText(usage)}`
  for (const name in extraFields) rest += `,${asciiJson(name)}:${asciiJson(extraFields[name])}`
  return `${rest}}`
}

function headersOf(embedded: EmbedResult, { requestId, timing, ends }: AnswerMeta): string[] {
  const { deployments, attempts, usage, rates, space, emulated, dropped, cache } = embedded
  const headers = [
    'content-type',
    'application/json; charset=utf-8',
    'x-request-id',
    requestId,
    'x-torana-deployment',
    headerText(deployments.join(', ')),
    'x-torana-attempts',
    String(attempts),
    'x-torana-cost',
    costText(usage.cost),
    'x-torana-usage',
    usage.source,
  ]
  if (timing !== undefined) headers.push('server-timing', timing)
  if (space !== undefined) headers.push('x-torana-space', headerText(space))
  if (ends !== undefined) headers.push('x-torana-model-ends', headerText(ends))
  if (rates.length > 0) headers.push(...rateHeaders(rates))
  if (cache !== undefined) headers.push('x-torana-cache', `hits=${cache.hits}, misses=${cache.misses}`)
  if (emulated.length > 0) headers.push('x-torana-emulated', emulated.join(', '))
  if (dropped.length > 0) headers.push('x-torana-dropped', headerText(dropped.join(', ')))
  return headers
}
