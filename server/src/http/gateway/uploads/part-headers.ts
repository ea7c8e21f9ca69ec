/** The headers of a part, and of the body itself. */
import { MIMEType } from 'node:util'
import { Fault } from '#core/fault/fault.ts'
import { malformed, type PartHeaders } from './multipart-parts.ts'

export interface PartLabel {
  readonly name: string
  readonly hasFilename: boolean
  /** Undefined also when it cannot be read. */
  readonly filename: string | undefined
}

/** Our names are shorter than twenty bytes; browsers and SDKs send the names of the form. */
const MAX_NAME_BYTES = 100
/** RFC 2046. */
const MAX_BOUNDARY_CHARACTERS = 70
const BOUNDARY = new RegExp(`^(?=[ -~]{1,${MAX_BOUNDARY_CHARACTERS}}$).*[^ ]$`)

/** `; name=value`, with or without quotes. */
const PARAMETER = /\s*;\s*([^\s;="]+)=("(?:[^"\\]|\\.)*"|[^\s;"]*)/y

/** Encodings that leave the bytes unchanged. Others would have to be decoded, and no client sends them. */
const PLAIN_ENCODINGS = new Set(['7bit', '8bit', 'binary'])

export function boundaryOf(contentType: string | undefined): string {
  let type: MIMEType | undefined
  try {
    type = new MIMEType(contentType ?? '')
  } catch {
    // Refused below, as a type that is not a form.
  }
  if (type?.essence !== 'multipart/form-data')
    throw new Fault('unsupported_media_type', 'The content type is not multipart/form-data.')
  const boundary = type.params.get('boundary') ?? ''
  if (!BOUNDARY.test(boundary))
    throw new Fault(
      'unsupported_media_type',
      `The content type is multipart/form-data without a boundary of 1 to ${MAX_BOUNDARY_CHARACTERS} characters. HTTP clients add the boundary themselves if you do not set the content type.`,
    )
  return boundary
}

export function labelOf(headers: PartHeaders): PartLabel {
  const [disposition, another] = headers['content-disposition'] ?? []
  if (disposition === undefined || another !== undefined)
    throw malformed('has a part without a readable content-disposition')
  const parameters = parametersOf(disposition)
  const name = nameIn(parameters.filter(([key]) => key === 'name').map(([, value]) => value))
  checkEncoding(name, headers['content-transfer-encoding'])
  const hasFilename = parameters.some(([key]) => key === 'filename' || key === 'filename*')
  return { name, hasFilename, filename: filenameIn(new Map(parameters)) }
}

/** RFC 6266: the extended form wins. */
function filenameIn(parameters: ReadonlyMap<string, string>): string | undefined {
  const [, extended] = /^utf-8'[^']*'(.+)$/i.exec(parameters.get('filename*') ?? '') ?? []
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended)
    } catch {
      return undefined
    }
  }
  const plain = parameters.get('filename')
  return plain === undefined ? undefined : utf8(Buffer.from(plain.replaceAll(/\\(["\\])/g, '$1'), 'latin1'))
}

function parametersOf(disposition: string): (readonly [key: string, value: string])[] {
  const found: (readonly [key: string, value: string])[] = []
  const kind = /^\s*form-data(?=\s*(;|$))/i.exec(disposition)
  if (kind === null) throw malformed('has a part whose content-disposition is not form-data')
  let end = kind[0].length
  for (;;) {
    PARAMETER.lastIndex = end
    const parameter = PARAMETER.exec(disposition)
    if (parameter === null) break
    const [whole, key = '', value = ''] = parameter
    found.push([key.toLowerCase(), value.startsWith('"') ? value.slice(1, -1) : value])
    end += whole.length
  }
  if (!/^[\s;]*$/.test(disposition.slice(end)))
    throw malformed('has a part with an unreadable content-disposition')
  return found
}

function nameIn(names: readonly string[]): string {
  const [name, another] = names
  if (name === undefined || name === '' || another !== undefined)
    throw malformed('has a part without a name, or with several')
  if (name.length > MAX_NAME_BYTES)
    throw malformed(`has a part with a name of more than ${MAX_NAME_BYTES} bytes`)
  const text = utf8(Buffer.from(name.replaceAll(/\\(["\\])/g, '$1'), 'latin1'))
  // oxlint-disable-next-line no-control-regex -- these are what is refused
  if (text === undefined || /[\0-\x1f\x7f]/.test(text))
    throw malformed('has a part with a name that is not UTF-8 text')
  return text
}

function checkEncoding(name: string, [encoding, another]: readonly string[] = []): void {
  if (encoding === undefined || (another === undefined && PLAIN_ENCODINGS.has(encoding.trim().toLowerCase())))
    return
  throw new Fault(
    'invalid_parameter',
    `${name} has a content-transfer-encoding. Send the bytes without one.`,
    { param: name },
  )
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined if the bytes are not UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
