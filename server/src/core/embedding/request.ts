/** From a parsed JSON body to a typed request. `null` counts as absent; fields that Torana does not know are kept separately. */
import type { Encoding, InputType } from '../catalog/catalog.ts'
import { Fault } from '../fault/fault.ts'
import { shown } from '../fault/shown.ts'
import { isRecord } from '../text/record.ts'
import { type Tags } from '../money/labels.ts'
import { tagsIn, userIn } from '../request/labels.ts'
import { modelIn, type PathModel } from '../request/path-model.ts'
import { checkUnknownField } from '../request/unknown-fields.ts'
import { readInput, refusedAs, type Input } from './input.ts'
import { holdsContents, INPUT_FIELDS, readContents, type MediaAt } from './read-contents.ts'
import { TYPE_FIELDS, typesIn, type AskedTypes } from './vector-types/asked.ts'

export interface EmbeddingRequest {
  /** The requested name: an id or an alias. */
  readonly model: string
  readonly input: Input
  readonly dimensions: number | undefined
  readonly encoding: Encoding
  /** Undefined: float alone. */
  readonly types?: AskedTypes | undefined
  readonly inputType: InputType | undefined
  readonly user: string | undefined
  /** Tags from `metadata` and the header. Torana keeps them; no upstream sees them. */
  readonly tags?: Tags | undefined
  readonly extraFields: Fields
}

const INPUT_TYPES: Readonly<Record<string, InputType>> = {
  query: 'query',
  document: 'document',
  classification: 'classification',
  clustering: 'clustering',
  similarity: 'similarity',
  // The providers' own words, so that code written for them needs no change.
  search_query: 'query',
  search_document: 'document',
  passage: 'document',
}

type Fields = Readonly<Record<string, unknown>>

/** OpenAI's name, and that of Cohere and Voyage. */
const WIDTH_FIELDS = ['dimensions', 'output_dimension'] as const

const KNOWN: ReadonlySet<string> = new Set([
  'model',
  ...INPUT_FIELDS,
  ...WIDTH_FIELDS,
  'encoding_format',
  'input_type',
  'user',
  'metadata',
  ...TYPE_FIELDS,
])
const NO_FIELDS: Fields = Object.freeze({})

/**
 * `exact`: fields of the body with their original numbers, where parsing has changed them. `mediaAt`: media that were taken
 * out of the body.
 */
export function readEmbeddingRequest(
  body: unknown,
  maxInputs: number,
  path?: PathModel,
  exact?: Fields,
  mediaAt: MediaAt = noMedia,
): EmbeddingRequest {
  if (!isRecord(body))
    throw new Fault('invalid_json', 'The body is not a JSON object. Send {"model": …, "input": …}.')
  const input = inputIn(body, maxInputs, mediaAt)
  const { types, wantsBase64 } = typesIn(body)
  return {
    model: modelIn(body['model'], path),
    input,
    dimensions: dimensionsIn(body),
    encoding: encodingIn(body['encoding_format'] ?? (wantsBase64 ? 'base64' : undefined)),
    types,
    inputType: inputTypeIn(body['input_type']),
    user: userIn(body['user']),
    tags: tagsIn(body['metadata']),
    extraFields: extraFieldsIn(body, exact),
  }
}

const noMedia: MediaAt = () => undefined

function inputIn(body: Fields, maxInputs: number, mediaAt: MediaAt): Input {
  if (holdsContents(body)) return readContents(body, maxInputs, mediaAt)
  const input = readInput(body['input'], maxInputs)
  if (input.kind === 'problem') throw refusedAs(input)
  return input
}

function dimensionsIn(body: Fields): number | undefined {
  let width: number | undefined
  for (const param of WIDTH_FIELDS) {
    const value = body[param]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1)
      throw new Fault(
        'invalid_parameter',
        `${param} is ${shown(value)}; it must be a whole number of at least 1.`,
        { param },
      )
    if (width !== undefined && width !== value)
      throw new Fault(
        'invalid_parameter',
        `dimensions is ${width}, and ${param}, another name for it, is ${value}. Send one of the two.`,
        { param },
      )
    width = value
  }
  return width
}

function encodingIn(value: unknown): Encoding {
  if (value === undefined || value === null) return 'float'
  if (value === 'float' || value === 'base64') return value
  throw new Fault(
    'invalid_parameter',
    `Invalid value for 'encoding_format': ${shown(value)}. Supported values: 'float', 'base64'.`,
    { param: 'encoding_format' },
  )
}

function inputTypeIn(value: unknown): InputType | undefined {
  if (value === undefined || value === null) return undefined
  const known =
    typeof value === 'string' && Object.hasOwn(INPUT_TYPES, value) ? INPUT_TYPES[value] : undefined
  if (known !== undefined) return known
  throw new Fault(
    'invalid_parameter',
    `Invalid value for 'input_type': ${shown(value)}. Supported values: 'query', 'document', 'classification', 'clustering', 'similarity'.`,
    { param: 'input_type' },
  )
}

function extraFieldsIn(body: Fields, exact: Fields | undefined): Fields {
  let extra: Record<string, unknown> | undefined
  for (const name in body) {
    if (KNOWN.has(name) || body[name] === null) continue
    checkUnknownField(name)
    // Without a prototype, a field called `__proto__` is a field like any other.
    extra ??= Object.create(null) as Record<string, unknown>
    extra[name] = exact?.[name] ?? body[name]
  }
  return extra ?? NO_FIELDS
}
