import type { Content, ContentLimits } from './media.ts'

/** A request body after JSON.parse. */
export type Fields = Record<string, unknown>

export type Encoding = 'float' | 'base64'

/** What a caller asked for, whatever the wire it came by. */
export type Question = {
  model: string
  /** Of each input. Of one that came as parts: its text parts. */
  texts: string[]
  /** The parts of each input, where the wire has parts. */
  contents?: readonly Content[]
  /** One count per input. */
  tokens: number[]
  tokenArrays: boolean
  inputType: string | null
  dimensions: number | null
  encoding: Encoding | null
  /** Fields of the body that this wire does not know. */
  unknownFields: string[]
  fields: Fields
}

export type Item = { index: number; vector: Float32Array; tokens: number }

export type Answer = {
  question: Question
  items: Item[]
  encoding: Encoding
  /** The whole request's tokens, or null when the scenario reports none. */
  usage: number | null
  extraFields: boolean
  /** A vector as JSON text, with the scenario's flaws. */
  text: (vector: Float32Array, encoding: Encoding) => string
}

export type Target = { operation: string; model: string | null }

/** The language of one provider: how its requests are read, its answers and its errors written. */
export type Wire = {
  name: string
  /** The path below the scenario that a client is given as its base URL. */
  base: string
  /** Headers of which one must be there; none for servers that need no key. */
  credentials: readonly string[]
  maxInputs: number
  /** Of a request body. */
  maxBodyBytes?: number
  /** What the model of a question takes beside texts; absent: nothing. */
  limits?(question: Question): ContentLimits
  /** Whether answers name the position of each vector. Where they do not, `shuffled` has no meaning. */
  indexed: boolean
  /** Recognises a path below the scenario. */
  locate(path: string, query: URLSearchParams): Target | null
  read(fields: Fields, target: Target): Question | Promise<Question>
  write(answer: Answer): { body: string; headers?: Record<string, string> }
  refuse(refusal: Refusal): string
}

/** An error that the server answers on purpose. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string | null
  readonly type: string
  readonly param: string | null
  readonly headers: Record<string, string>

  constructor(
    status: number,
    message: string,
    {
      code = null,
      param = null,
      headers = {},
    }: { code?: string | null; param?: string | null; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.type = typeOf(status, code)
    this.param = param
    this.headers = headers
  }
}

function typeOf(status: number, code: string | null): string {
  if (code === 'insufficient_quota') return code
  if (code === 'moderation_blocked') return 'image_generation_user_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

/** The width stands at the end of the model name: `embed-w64` answers 64 values. One model has its own, which it can't exceed. */
export function widthOf(model: string): number {
  const digits = /-w(\d+)$/.exec(model)?.[1]
  if (digits !== undefined) return Number(digits)
  return model.includes('multimodalembedding') ? 1408 : 1536
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function unknownFields(fields: Fields, known: readonly string[]): string[] {
  return Object.keys(fields).filter((field) => !known.includes(field))
}

export function stringField(fields: Fields, name: string): string | null {
  const value = fields[name] ?? null
  if (value !== null && typeof value !== 'string') throw new Refusal(400, `'${name}' must be a string.`)
  return value
}

export function requiredString(fields: Fields, name: string): string {
  const value = stringField(fields, name)
  if (value === null || value === '') throw new Refusal(400, `'${name}' is required.`)
  return value
}

export function countField(fields: Fields, name: string): number | null {
  const value = fields[name] ?? null
  if (value === null) return null
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) {
    throw new Refusal(400, `'${name}' must be a whole number of at least 1.`)
  }
  return value
}

export function textsField(fields: Fields, name: string): string[] {
  const value = fields[name]
  const isTexts = Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === 'string')
  if (!isTexts) throw new Refusal(400, `'${name}' must be a list of at least one string.`)
  return value
}
