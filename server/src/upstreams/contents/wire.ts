/** What a translator of contents does, and the words that several of them share. */
import {
  hasAddress,
  isText,
  type AddressPart,
  type Content,
  type Media,
  type MediaPart,
  type Part,
  type PartKind,
} from '#core/content/content.ts'
import type { Usage } from '#core/money/usage.ts'
import { isRecord } from '#core/text/record.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import type { ErrorKinds } from '../openai/error-kinds.ts'

export type Fields = Readonly<Record<string, unknown>>

/** An answer without its vectors: each is replaced by its ordinal. */
export interface ReadAnswer {
  /** `{ embedding: <ordinal>, index? }` for each vector. Not an array: the answer has no place for vectors. */
  readonly items: unknown
  readonly usage: Usage
}

/** One wire, as pure functions: nothing is sent, and no media are read. */
export interface ContentWire {
  /** The path after the base URL. */
  path(call: EmbeddingCall): string
  /** The JSON body. `Base64` in it is written while it is sent. Throws `Unsendable`. */
  body(call: EmbeddingCall, contents: readonly Content[]): Fields
  read(answer: Fields, contents: readonly Content[], headers: Headers): ReadAnswer
  /** Its answers are OpenAI's: `data[].embedding`, and fields that are kept for the caller. */
  readonly isOpenai?: true
  /** It names an input type in a field of the call. `required`: it has no vectors without one. */
  readonly inputType?: 'taken' | 'required'
  /** It can ask for vectors of another type than float. */
  readonly outputType?: true
  /** It carries fields that Torana does not know, and `user`. */
  readonly extraFields?: true
  readonly errorKinds?: ErrorKinds
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** A call that this wire can't carry. Nothing of it was sent. */
export class Unsendable extends Error {
  override readonly name = 'Unsendable'
}

/** The only content of a call, on wires that carry one. */
export function onlyContent(contents: readonly Content[]): Content {
  const [only, ...more] = contents
  if (only === undefined || more.length > 0) throw new Unsendable('this wire carries one content in a call')
  return only
}

/** The only part of a content, on wires of models that do not fuse. */
export function onlyPart({ parts }: Content): Part {
  const [only, ...more] = parts
  if (only === undefined || more.length > 0)
    throw new Unsendable('several parts can not be fused on this wire')
  return only
}

export function unsendable(kind: PartKind): Unsendable {
  return new Unsendable(`a part of kind ${kind} can not be sent on this wire`)
}

/** The media of a part, on wires that carry bytes alone. */
export function mediaOf(part: MediaPart | AddressPart): Media {
  if (hasAddress(part)) throw new Unsendable('an address can not be sent on this wire')
  return part.media
}

/** OpenAI's fields of a call beside its inputs. */
export function openaiFields(call: EmbeddingCall): Fields {
  const { capabilities, upstreamModel } = call.deployment
  const { dimensions, inputType, inputTypeField, outputType, user } = call
  return {
    ...call.extraFields,
    model: upstreamModel,
    ...(dimensions === undefined ? {} : { [capabilities.dimensionsField]: dimensions }),
    ...(inputType === undefined || inputTypeField === undefined ? {} : { [inputTypeField]: inputType }),
    ...(outputType === undefined ? {} : { [capabilities.outputTypeField ?? 'output_dtype']: outputType }),
    ...(user === undefined ? {} : { user }),
  }
}

/** `data` and `usage` as OpenAI writes them, with the counts by kind that OpenRouter adds. */
export function readOpenai({ data, usage }: Fields): ReadAnswer {
  const counts = fieldsIn(usage)
  const details = fieldsIn(counts['prompt_tokens_details'])
  const byKind = {
    text: details['text_tokens'],
    image: details['image_tokens'],
    audio: details['audio_tokens'],
    video: details['video_tokens'],
    file: details['file_tokens'],
  }
  return { items: data, usage: measured(counts['prompt_tokens'] ?? counts['total_tokens'], byKind) }
}

/** Unknown unless the total is a count. Counts of kinds that are not reported are left out. */
export function measured(tokens: unknown, byKind: Readonly<Partial<Record<PartKind, unknown>>> = {}): Usage {
  if (!isCount(tokens) || tokens === 0) return { kind: 'unknown' }
  const counted = Object.entries(byKind).filter(([, count]) => isCount(count))
  return counted.length === 0
    ? { kind: 'measured', tokens }
    : { kind: 'measured', tokens, byKind: Object.fromEntries(counted) }
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

export function kindsIn(contents: readonly Content[]): ReadonlySet<PartKind> {
  return new Set(contents.flatMap(({ parts }) => parts.map(({ kind }) => kind)))
}

export function isTextOnly(contents: readonly Content[]): boolean {
  return contents.every(({ parts }) => parts.every(isText))
}

/** The fields of a value that should have some. */
export function fieldsIn(value: unknown): Fields {
  return isRecord(value) ? value : NO_FIELDS
}

const NO_FIELDS: Fields = Object.freeze({})

/** Items for vectors that have no index: their order is that of the inputs. */
export function itemsOf(list: unknown, vectorIn: (item: unknown) => unknown): unknown {
  return Array.isArray(list) ? list.map((item: unknown) => ({ embedding: vectorIn(item) })) : undefined
}
