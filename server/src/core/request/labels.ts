/** Reads the labels of a request: `user`, and tags of the header or of the field `metadata`. */
import { Fault } from '../fault/fault.ts'
import { shown } from '../fault/shown.ts'
import { MAX_TAG_KEY, MAX_TAG_VALUE, MAX_TAGS, MAX_USER, type Tags } from '../money/labels.ts'
import { isRecord } from '../text/record.ts'
import { isPlain, isStorable } from '../text/storable.ts'

export const TAGS_HEADER = 'x-torana-tags'

/** No `=`, `,` or `:`, which the header and the filters of the control API use between keys and values. */
const TAG_KEY = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
/** Characters that an HTTP header carries without an encoding. */
const HEADER_TEXT = /^[\x20-\x7e]*$/

export function userIn(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.length > MAX_USER)
    throw invalid('user', `user must be a string of at most ${MAX_USER} characters.`)
  if (!isStorable(value)) throw invalid('user', 'user has a NUL or half of a character. Remove it.')
  return value
}

/** Tags of the field `metadata`. Undefined: there are none. */
export function tagsIn(metadata: unknown): Tags | undefined {
  if (metadata === undefined || metadata === null) return undefined
  if (!isRecord(metadata))
    throw invalid(
      'metadata',
      `metadata is ${shown(metadata)}; it must be an object of strings, such as {"team": "red"}. In a form, send tags in the header ${TAGS_HEADER}.`,
    )
  return checked(Object.entries(metadata), 'metadata')
}

/** Tags of the header `x-torana-tags`, such as `team=red, job=nightly`. A repeated header continues the list. */
export function tagsInHeader(header: string | readonly string[] | undefined): Tags | undefined {
  if (header === undefined) return undefined
  const text = typeof header === 'string' ? header : header.join(',')
  if (!HEADER_TEXT.test(text))
    throw invalid(
      TAGS_HEADER,
      `${TAGS_HEADER} must be plain ASCII. Send tags with other characters in the field metadata.`,
    )
  const entries = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one): [string, string] => {
      const end = one.indexOf('=')
      if (end === -1)
        throw invalid(TAGS_HEADER, `${TAGS_HEADER} has ${shown(one)}; write each tag as key=value.`)
      return [one.slice(0, end).trim(), one.slice(end + 1).trim()]
    })
  return checked(entries, TAGS_HEADER)
}

/** Tags of the header and of the body. A key with two values is refused, because one of them would be lost. */
export function withHeaderTags(own: Tags | undefined, header: Tags | undefined): Tags | undefined {
  if (own === undefined || header === undefined) return own ?? header
  const twice = Object.keys(own).find((key) => Object.hasOwn(header, key) && header[key] !== own[key])
  if (twice !== undefined)
    throw invalid(
      TAGS_HEADER,
      `The tag ${twice} is ${shown(header[twice])} in ${TAGS_HEADER} and ${shown(own[twice])} in metadata. Send it once.`,
    )
  return withinMost({ ...header, ...own }, TAGS_HEADER)
}

/** Tags of a batch and of one of its lines, which overrides those of the batch. */
export function withBatchTags(own: Tags | undefined, batch: Tags | undefined): Tags | undefined {
  if (own === undefined || batch === undefined) return own ?? batch
  return withinMost({ ...batch, ...own }, 'metadata')
}

function checked(entries: readonly (readonly [string, unknown])[], param: string): Tags | undefined {
  if (entries.length === 0) return undefined
  const tags: Record<string, string> = {}
  for (const [key, value] of entries) {
    if (key.length > MAX_TAG_KEY || !TAG_KEY.test(key))
      throw invalid(
        param,
        `${param} has the key ${shown(key)}; a key has at most ${MAX_TAG_KEY} letters, digits, '.', '_' or '-', and begins with a letter or a digit.`,
      )
    if (typeof value !== 'string' || value === '' || value.length > MAX_TAG_VALUE || !isPlain(value))
      throw invalid(
        param,
        `${param} has ${shown(value)} as ${key}; a value is a string of 1 to ${MAX_TAG_VALUE} characters without control characters.`,
      )
    if (Object.hasOwn(tags, key) && tags[key] !== value)
      throw invalid(param, `${param} has the key ${key} twice. Send it once.`)
    tags[key] = value
  }
  return withinMost(tags, param)
}

function withinMost(tags: Tags, param: string): Tags {
  const count = Object.keys(tags).length
  if (count <= MAX_TAGS) return tags
  throw invalid(param, `The request has ${count} tags; at most ${MAX_TAGS} are kept. Send fewer.`)
}

function invalid(param: string, message: string): Fault {
  return new Fault('invalid_parameter', message, { param })
}
