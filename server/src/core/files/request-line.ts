/** One line of a file of requests: `{"custom_id": …, "method": "POST", "url": …, "body": {…}}`. */
import { fieldsIn, type JsonField } from '../text/exact-json.ts'
import { scanJson } from '../text/json-bounds.ts'
import { isRecord } from '../text/record.ts'
import { isStorable } from '../text/storable.ts'
import { MAX_LINE_BYTES, type Line } from './lines.ts'
import type { LineError } from './scan-result.ts'

export interface RequestLine {
  readonly customId: string
  readonly url: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Undefined: the bytes are not UTF-8. */
export type TextOf = (bytes: Uint8Array) => string | undefined

/** Longest `custom_id`: longer than any id people use, and each is written again into the results. */
const MAX_CUSTOM_ID_LENGTH = 512
/** The path of an endpoint: printable ASCII, since messages repeat it. */
const URL = /^[\x21-\x7e]{1,200}$/
/** Up to here a line has too few values to do harm, and counting them would take as long as parsing it. */
const HARMLESS_BYTES = 64 * 1024
/** The bounds of an HTTP request, and two levels around them; `input` may hold 2,048 more texts or lists of tokens. */
const BOUNDS = { maxDepth: 34, maxFields: 16, maxValues: 10_000, maxInputs: 2048, inputDepth: 2 } as const

export function readRequestLine({ number, content }: Line, textOf: TextOf): RequestLine | LineError {
  const wrong = (code: LineError['code'], message: string, param: string | null = null): LineError => ({
    code,
    message,
    param,
    line: number,
  })
  const missing = (param: string): LineError =>
    wrong('missing_required_parameter', `Missing required parameter: '${param}'.`, param)
  if (content === undefined)
    return wrong('invalid_request', `This line has more than ${MAX_LINE_BYTES} bytes. Split its request.`)
  const excess = content.length > HARMLESS_BYTES ? scanJson(content, BOUNDS).excess : undefined
  if (excess !== undefined) return wrong('invalid_request', `This line is too complex. ${excess}`)
  const value = parsed(textOf(content))
  if (value === undefined) return wrong('invalid_json_line', 'This line is not parseable as valid JSON.')
  if (!isRecord(value)) return wrong('invalid_json_line', 'This line is valid JSON, but no JSON object.')
  const { custom_id: customId, method, url, body } = value
  if (customId === undefined || customId === null) return missing('custom_id')
  if (typeof customId !== 'string' || customId === '' || customId.length > MAX_CUSTOM_ID_LENGTH)
    return wrong(
      'invalid_request',
      `custom_id must be a text of 1 to ${MAX_CUSTOM_ID_LENGTH} characters.`,
      'custom_id',
    )
  if (!isStorable(customId))
    return wrong(
      'invalid_request',
      'custom_id has a NUL character or half of a surrogate pair, which no results can repeat.',
      'custom_id',
    )
  if (method === undefined || method === null) return missing('method')
  if (method !== 'POST') return wrong('invalid_request', "method must be 'POST'.", 'method')
  if (url === undefined || url === null) return missing('url')
  if (typeof url !== 'string' || !URL.test(url))
    return wrong('invalid_request', "url must be the path of an endpoint, such as '/v1/embeddings'.", 'url')
  if (body === undefined || body === null) return missing('body')
  if (!isRecord(body)) return wrong('invalid_request', 'body must be a JSON object.', 'body')
  return { customId, url, body }
}

/** A line that the upload has checked, divided: its body comes as the body of a request does, and may have megabytes. */
export interface DividedLine {
  readonly customId: string
  readonly body: Uint8Array
}

export function dividedLine(line: Uint8Array, textOf: (bytes: Uint8Array) => string): DividedLine {
  const fields = new Map<string, JsonField>()
  for (const field of fieldsIn(line, (start, end) => textOf(line.subarray(start, end))))
    fields.set(field.name, field)
  const valueOf = (name: string): Uint8Array => {
    const { start, end } = fields.get(name) ?? { start: 0, end: 0 }
    return line.subarray(start, end)
  }
  const customId = parsed(textOf(valueOf('custom_id')))
  return { customId: typeof customId === 'string' ? customId : '', body: valueOf('body') }
}

export function isLineError(read: RequestLine | LineError): read is LineError {
  return 'code' in read
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
