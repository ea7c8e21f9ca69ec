/**
 * The guard of `input`, by hand: a schema library over a million token ids would block the event loop. It never throws and
 * takes time linear in the number of entries.
 */
import { mediaInDataUri } from './data-uri.ts'
import { Fault } from '../fault/fault.ts'
import { halfCharacterMessage } from '../text/utf8.ts'
import { isText, type Content } from '../content/content.ts'

export type Input =
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  | { readonly kind: 'tokens'; readonly tokens: readonly TokenIds[] }
  | { readonly kind: 'contents'; readonly contents: readonly Content[] }

/** Token ids of one input. Those of a large body come packed and already checked. */
export type TokenIds = readonly number[] | Uint32Array

export function inputCount(input: Input): number {
  switch (input.kind) {
    case 'texts':
      return input.texts.length
    case 'tokens':
      return input.tokens.length
    case 'contents':
      return input.contents.length
  }
}

/** Characters or token ids in total: the work of one pass over the input. Media are not read in such a pass. */
export function inputSize(input: Input): number {
  if (input.kind === 'contents')
    return textsOfContents(input.contents).reduce((sum, text) => sum + text.length, 0)
  const entries: readonly { readonly length: number }[] = input.kind === 'texts' ? input.texts : input.tokens
  let size = 0
  for (const entry of entries) size += entry.length
  return size
}

/** The texts of all parts. */
function textsOfContents(contents: readonly Content[]): readonly string[] {
  return contents.flatMap(({ parts }) => parts.flatMap((part) => (isText(part) ? [part.text] : [])))
}

/** Some of the inputs, in the order of their positions. */
export function pick(input: Input, positions: readonly number[]): Input {
  switch (input.kind) {
    case 'texts':
      return { kind: 'texts', texts: positions.map((position) => input.texts[position] as string) }
    case 'tokens':
      return { kind: 'tokens', tokens: positions.map((position) => input.tokens[position] as TokenIds) }
    case 'contents':
      return { kind: 'contents', contents: positions.map((position) => input.contents[position] as Content) }
  }
}

export function slice(input: Input, start: number, end: number): Input {
  switch (input.kind) {
    case 'texts':
      return { kind: 'texts', texts: input.texts.slice(start, end) }
    case 'tokens':
      return { kind: 'tokens', tokens: input.tokens.slice(start, end) }
    case 'contents':
      return { kind: 'contents', contents: input.contents.slice(start, end) }
  }
}

/** Concatenates inputs. All of them are of one kind. */
export function joinInputs(inputs: readonly Input[]): Input {
  const [first] = inputs
  if (first?.kind === 'tokens')
    return {
      kind: 'tokens',
      tokens: inputs.flatMap((input) => (input.kind === 'tokens' ? input.tokens : [])),
    }
  if (first?.kind === 'contents')
    return {
      kind: 'contents',
      contents: inputs.flatMap((input) => (input.kind === 'contents' ? input.contents : [])),
    }
  return { kind: 'texts', texts: inputs.flatMap((input) => (input.kind === 'texts' ? input.texts : [])) }
}

/** The same inputs as contents. Token ids have no such form: they are decoded first. */
export function asContents(input: Input): readonly Content[] {
  switch (input.kind) {
    case 'texts':
      return input.texts.map((text) => ({ parts: [{ kind: 'text', text }] }))
    case 'contents':
      return input.contents
    case 'tokens':
      throw new TypeError('Token ids are no contents.')
  }
}

/** A text of a request with contents. `mayBeMedia`: a text part says itself that it is a text. */
export function readPlainText(text: string, param: string, mayBeMedia = true): string {
  if (text === '') throw refusedAs(empty(param))
  if (!text.isWellFormed()) throw refusedAs(halved(param, text))
  const media = mayBeMedia ? mediaInDataUri(text) : undefined
  if (media !== undefined) throw refusedAs(ambiguous(param, media))
  return text
}

export function refusedAs({ code, param, message }: InputProblem): Fault {
  return new Fault(code, message, { param })
}

export interface InputProblem {
  readonly kind: 'problem'
  /** `input` or `input[17]`. */
  readonly param: string
  readonly code: 'missing_parameter' | 'invalid_input' | 'empty_input' | 'too_many_inputs' | 'ambiguous_input'
  readonly message: string
}

/** Vocabularies end near 260,000; anything beyond 32 bits is no token id. */
const MAX_TOKEN_ID = 0x7f_ff_ff_ff

const FORMS =
  'Send a string, an array of strings, an array of token ids, an array of arrays of token ids, or an array of contents.'

export function readInput(value: unknown, maxInputs: number): Input | InputProblem {
  if (typeof value === 'string') {
    if (value === '') return empty('input')
    if (!value.isWellFormed()) return halved('input', value)
    const media = mediaInDataUri(value)
    return media === undefined ? { kind: 'texts', texts: [value] } : ambiguous('input', media)
  }
  if (value instanceof Uint32Array) return { kind: 'tokens', tokens: [value] }
  if (value === undefined || value === null)
    return problem('missing_parameter', 'input', `input is missing. ${FORMS}`)
  if (!Array.isArray(value)) return invalid('input', `input is ${nameOf(value)}. ${FORMS}`)
  if (value.length === 0) {
    return problem('empty_input', 'input', 'input is an empty array. Send at least one text or token array.')
  }
  const entries: readonly unknown[] = value
  switch (typeof entries[0]) {
    case 'string':
      return readTexts(entries, maxInputs)
    case 'number':
      return readFlatTokens(entries)
    default:
      return isTokenArray(entries[0])
        ? readTokenArrays(entries, maxInputs)
        : invalid('input[0]', `input[0] is ${nameOf(entries[0])}. ${FORMS}`)
  }
}

function readTexts(entries: readonly unknown[], maxInputs: number): Input | InputProblem {
  if (entries.length > maxInputs) return tooMany(entries.length, maxInputs)
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index]
    if (typeof entry !== 'string') return mixed(index, entry, 'a string')
    if (entry === '') return empty(`input[${index}]`)
    if (!entry.isWellFormed()) return halved(`input[${index}]`, entry)
    const media = mediaInDataUri(entry)
    if (media !== undefined) return ambiguous(`input[${index}]`, media)
  }
  return { kind: 'texts', texts: entries as readonly string[] }
}

function readFlatTokens(entries: readonly unknown[]): Input | InputProblem {
  const bad = firstNonToken(entries)
  if (bad === 0) return invalid('input[0]', `input[0] is ${nameOf(entries[0])}. ${FORMS}`)
  if (bad !== -1) return mixed(bad, entries[bad], 'a token id')
  return { kind: 'tokens', tokens: [entries as readonly number[]] }
}

function readTokenArrays(entries: readonly unknown[], maxInputs: number): Input | InputProblem {
  if (entries.length > maxInputs) return tooMany(entries.length, maxInputs)
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index]
    if (!isTokenArray(entry)) return mixed(index, entry, 'an array of token ids')
    if (entry.length === 0) return empty(`input[${index}]`)
    const bad = entry instanceof Uint32Array ? -1 : firstNonToken(entry)
    if (bad !== -1) {
      return invalid(`input[${index}]`, `input[${index}][${bad}] is ${nameOf(entry[bad])}. ${FORMS}`)
    }
  }
  return { kind: 'tokens', tokens: entries as readonly TokenIds[] }
}

function isTokenArray(value: unknown): value is readonly unknown[] | Uint32Array {
  return Array.isArray(value) || value instanceof Uint32Array
}

function firstNonToken(entries: readonly unknown[]): number {
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index]
    if (!isTokenId(entry)) return index
  }
  return -1
}

function isTokenId(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKEN_ID
}

function problem(code: InputProblem['code'], param: string, message: string): InputProblem {
  return { kind: 'problem', code, param, message }
}

function invalid(param: string, message: string): InputProblem {
  return problem('invalid_input', param, message)
}

function empty(param: string): InputProblem {
  return problem(
    'empty_input',
    param,
    `${param} is empty. Send at least one character or token, or remove it.`,
  )
}

/** It would be embedded as another text. */
function halved(param: string, text: string): InputProblem {
  return invalid(param, `${param} ${halfCharacterMessage(text)}`)
}

const MEDIA_NAMES: Readonly<Record<string, string>> = {
  image: 'an image',
  audio: 'a sound',
  video: 'a video',
  pdf: 'a PDF',
}

function ambiguous(param: string, media: string): InputProblem {
  return problem(
    'ambiguous_input',
    param,
    `${param} is a data URI of ${MEDIA_NAMES[media]}. A string is a text to Torana: the model would embed the characters of the URI, not ${MEDIA_NAMES[media]}. Send {"content": [{"type": "image_url", "image_url": {"url": "data:…"}}]}, or a text.`,
  )
}

function mixed(index: number, entry: unknown, expected: string): InputProblem {
  return invalid(
    `input[${index}]`,
    `input[${index}] is ${nameOf(entry)}, where input[0] is ${expected}. ${FORMS}`,
  )
}

function tooMany(count: number, maxInputs: number): InputProblem {
  return problem(
    'too_many_inputs',
    'input',
    `input has ${count} entries; one request may have ${maxInputs}. Send several requests.`,
  )
}

/** What a caller sent, without echoing it: an input may be private. */
function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (typeof value === 'number') return isTokenId(value) ? 'a number' : `a number that is no token id`
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
