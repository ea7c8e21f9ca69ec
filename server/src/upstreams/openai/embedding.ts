/** The OpenAI wire for embeddings. Differences between the many servers that speak it are capability data. */
import type { Upstream } from '#core/catalog/catalog.ts'
import type { UpstreamTls } from '#core/catalog/upstream-tls.ts'
import type { Input, TokenIds } from '#core/embedding/input.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { USER_AGENT } from '../connect/user-agent.ts'

/** Where and how one upstream is called; made once per upstream. */
export interface Target {
  readonly origin: string
  readonly tls: UpstreamTls | undefined
  /** The path before the operation: `/v1`. */
  readonly basePath: string
  /** The query after the operation: `?api-version=v1`, or nothing. */
  readonly query: string
  /** Flat list, credential included. */
  readonly headers: readonly string[]
}

/** Headers that the operator's own override. Unpacking would cost more than the bytes that compression saves. */
const OWN_HEADERS = [
  ['content-type', 'application/json'],
  ['user-agent', USER_AGENT],
  ['accept', 'application/json'],
  ['accept-encoding', 'identity'],
] as const

/** Whether the operator's headers contain this one. */
export function namesHeader({ headers }: Upstream, name: string): boolean {
  return Object.keys(headers).some((own) => own.toLowerCase() === name)
}

export function openaiTarget(upstream: Upstream): Target {
  const url = new URL(upstream.baseUrl ?? 'https://api.openai.com/v1')
  const headers: string[] = []
  for (const [name, value] of OWN_HEADERS) if (!namesHeader(upstream, name)) headers.push(name, value)
  if (upstream.apiKey !== undefined) headers.push('authorization', `Bearer ${upstream.apiKey}`)
  for (const [name, value] of Object.entries(upstream.headers)) headers.push(name, value)
  const { tls } = upstream
  return { origin: url.origin, basePath: url.pathname.replace(/\/$/, ''), query: url.search, headers, tls }
}

export function embeddingPath(target: Target, _call: EmbeddingCall): string {
  return `${target.basePath}/embeddings${target.query}`
}

/** Contents have wires of their own. */
function plainInput(inputs: Input): readonly unknown[] {
  if (inputs.kind === 'contents') throw new TypeError('Contents cannot be sent as plain input.')
  return inputs.kind === 'texts' ? inputs.texts : inputs.tokens.map(plainArray)
}

/** Packed ids would be written as an object. */
function plainArray(tokens: TokenIds): readonly number[] {
  return tokens instanceof Uint32Array ? Array.from(tokens) : tokens
}

export function embeddingBody(call: EmbeddingCall): string {
  const { inputs, dimensions, inputType, user, outputType, extraFields } = call
  const hasOption =
    dimensions !== undefined || inputType !== undefined || user !== undefined || outputType !== undefined
  if (inputs.kind !== 'texts' || hasOption || !isEmpty(extraFields)) return JSON.stringify(fieldsOf(call))
  // Most calls have only texts: this path creates no object per call.
  const encoding = asksForBase64(call) ? ',"encoding_format":"base64"' : ''
  return `{"model":${JSON.stringify(call.deployment.upstreamModel)},"input":${JSON.stringify(inputs.texts)}${encoding}}`
}

export function fieldsOf(call: EmbeddingCall): Readonly<Record<string, unknown>> {
  const { capabilities, upstreamModel } = call.deployment
  const body: Record<string, unknown> = {
    ...call.extraFields,
    model: upstreamModel,
    input: plainInput(call.inputs),
  }
  if (asksForBase64(call)) body['encoding_format'] = 'base64'
  if (call.dimensions !== undefined) body[capabilities.dimensionsField] = call.dimensions
  if (call.inputType !== undefined && call.inputTypeField !== undefined)
    body[call.inputTypeField] = call.inputType
  if (call.outputType !== undefined) body[capabilities.outputTypeField ?? 'output_dtype'] = call.outputType
  if (call.user !== undefined) body['user'] = call.user
  return body
}

/** Floats are requested by omission: some servers refuse "float", none refuses its absence. */
function asksForBase64({ wantedForm, outputType, deployment: { capabilities } }: EmbeddingCall): boolean {
  // In base64 nothing tells one type from another.
  if (outputType !== undefined) return false
  const wantsBase64 = wantedForm !== 'text' || !capabilities.encodings.includes('float')
  return wantsBase64 && capabilities.encodings.includes('base64')
}

function isEmpty(fields: Readonly<Record<string, unknown>>): boolean {
  for (const _ in fields) return false
  return true
}
