/** One call with contents: translate, send once with media streamed from where they are, check every vector. */
import type { Upstream } from '#core/catalog/catalog.ts'
import { TYPED_WIRES, type ContentWireName } from '#core/catalog/content-capabilities.ts'
import { AnswerScanner } from '#core/embedding/answer-scan.ts'
import {
  ErrorInAnswer,
  extraFieldsOf,
  modelIn,
  orderVectors,
  parseSkeleton,
  withoutVectors,
} from '#core/embedding/answer.ts'
import type { Content } from '#core/content/content.ts'
import { asContents, inputSize } from '#core/embedding/input.ts'
import { faultInType, type Vector } from '#core/embedding/vector.ts'
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { EmbeddingAnswer, EmbeddingCall, EmbeddingUpstream } from '#ports/upstream.ts'
import { inTime } from '#thread/thread.ts'
import { HttpTimeout, isUnsent, type HttpAnswer, type UpstreamHttp } from '../connect/http.ts'
import type { StreamedBody } from '../connect/sent-body.ts'
import { decode } from '../openai/exchange.ts'
import { failureOfAnswer, failureOfError, failureOfErrorObject, requestIdIn } from '../openai/failures.ts'
import { accessOf, type Access } from './access.ts'
import { bodyOf } from './base64.ts'
import { NumberArrays } from './number-arrays.ts'
import { Unsendable, type ContentWire, type Fields } from './wire.ts'
import { wireOf } from './wires.ts'

/** Characters of text whose JSON takes longer than a millisecond to write. */
const LARGE_INPUT = 128 * 1024

export function contentsUpstream(http: UpstreamHttp, yieldLoop: () => Promise<unknown>): EmbeddingUpstream {
  const accesses = new WeakMap<Upstream, Map<ContentWireName, Access>>()

  function accessFor({ deployment }: EmbeddingCall, name: ContentWireName): Access {
    const { upstream } = deployment
    const known = accesses.get(upstream) ?? new Map<ContentWireName, Access>()
    accesses.set(upstream, known)
    const access = known.get(name) ?? accessOf(deployment, name, yieldLoop)
    known.set(name, access)
    return access
  }

  return {
    async embed(call) {
      const { deployment } = call
      const name = deployment.capabilities.contents?.wire
      if (name === undefined) throw new TypeError(`${deployment.id} has no wire for contents.`)
      const startedMs = performance.now()
      const wire = wireOf(deployment, name)
      if (inputSize(call.inputs) > LARGE_INPUT) await yieldLoop()
      const { contents, body } = translated(call, wire, name)
      const { target, credential } = accessFor(call, name)
      const path = `${target.basePath}${wire.path(call)}${target.query}`
      const credentials =
        credential && (await credentialOf(call, credential(`${target.origin}${path}`, body)))
      const { width, fullWidth, wantedForm, outputType } = call
      const scanner = wire.isOpenai
        ? new AnswerScanner({ width, fullWidth, wantedForm, outputType, decode })
        : new NumberArrays()
      let answer: HttpAnswer
      try {
        answer = await http.post(
          {
            origin: target.origin,
            tls: target.tls,
            path,
            headers: headersOf(target.headers, credentials, call),
            body,
            timeoutMs: call.timeoutMs - (performance.now() - startedMs),
          },
          scanner,
        )
      } catch (error) {
        throw failureOfError(error, {
          deployment: deployment.id,
          charge: isUnsent(error) ? 'none' : undefined,
        })
      }
      if (answer.status < 200 || answer.status > 299)
        throw failureOfAnswer(answer, deployment, wire.errorKinds)
      return read(scanner, answer, { call, wire, contents })
    },
  }
}

/** Nothing is sent before it is there. */
async function credentialOf(
  { deployment, timeoutMs }: EmbeddingCall,
  awaited: Promise<readonly string[]>,
): Promise<readonly string[]> {
  const late = (): Error => new HttpTimeout(`no credential within ${Math.round(timeoutMs)} ms`)
  try {
    return await inTime(awaited, timeoutMs, late)
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error
    throw failureOfError(error, { deployment: deployment.id, charge: 'none' })
  }
}

interface Translated {
  readonly contents: readonly Content[]
  readonly body: string | StreamedBody
}

function translated(call: EmbeddingCall, wire: ContentWire, name: ContentWireName): Translated {
  try {
    refuseOptions(call, wire, name)
    const contents = asContents(call.inputs)
    return { contents, body: bodyOf(wire.body(call, contents)) }
  } catch (error) {
    if (!(error instanceof Unsendable)) throw error
    throw new UpstreamFailure('refused', error.message, { deployment: call.deployment.id, charge: 'none' })
  }
}

/** What can't be sent is refused, never left out. */
function refuseOptions(call: EmbeddingCall, wire: ContentWire, name: ContentWireName): void {
  if (call.inputs.kind === 'tokens') throw new Unsendable('token ids can not be sent on this wire')
  const [extra] = Object.keys(call.extraFields)
  if (extra !== undefined && wire.extraFields === undefined)
    throw new Unsendable(`'${extra}' can not be sent on this wire`)
  if (call.user !== undefined && wire.extraFields === undefined)
    throw new Unsendable(`'user' can not be sent on this wire`)
  if (call.outputType !== undefined && wire.outputType === undefined)
    throw new Unsendable(`vectors of type ${call.outputType} can not be asked for on this wire`)
  if (call.inputType !== undefined && wire.inputType === undefined)
    throw new Unsendable('no input type can be named on this wire')
  if (call.inputType === undefined && TYPED_WIRES.has(name))
    throw new Unsendable('this wire needs an input type: name one, or give the model a default')
}

function headersOf(
  own: readonly string[],
  credentials: readonly string[] = [],
  { callId, traceHeaders = [] }: EmbeddingCall,
): string[] {
  return [...own, ...credentials, 'x-torana-call-id', callId, ...traceHeaders]
}

interface Asked {
  readonly call: EmbeddingCall
  readonly wire: ContentWire
  readonly contents: readonly Content[]
}

function read(
  scanner: AnswerScanner | NumberArrays,
  { status, headers, firstByteMs }: HttpAnswer,
  { call, wire, contents }: Asked,
): EmbeddingAnswer {
  const { deployment } = call
  const upstreamRequestId = requestIdIn(headers)
  try {
    const { skeleton, vectors } = scanner.end()
    const answer = parseSkeleton(skeleton)
    const { items, usage } = wire.read(answer, contents, headers)
    if (!Array.isArray(items)) throw withoutVectors(answer)
    const ordered = orderVectors(items, vectors, contents.length)
    return {
      vectors: ordered,
      isFullWidth: checkedWidth(ordered, call) !== call.width,
      usage: deployment.capabilities.countsTokens ? usage : { kind: 'unknown' },
      model: modelIn(answer),
      extraFields: wire.isOpenai ? extraFieldsOf(answer) : NO_FIELDS,
      firstByteMs,
      upstreamRequestId,
    }
  } catch (error) {
    const detail = { deployment: deployment.id, status, upstreamRequestId }
    throw error instanceof ErrorInAnswer
      ? failureOfErrorObject(error.error, deployment.upstream, detail)
      : failureOfError(error, detail)
  }
}

const NO_FIELDS: Fields = Object.freeze({})

/** The width of all vectors. Those that came in another form than values were checked as they arrived. */
function checkedWidth(vectors: readonly Vector[], { width, fullWidth, outputType }: EmbeddingCall): number {
  const [first] = vectors
  const isFull = first?.form === 'float32' && first.values.length === fullWidth
  const expected = isFull ? (fullWidth ?? width) : width
  for (const vector of vectors) {
    const fault = vector.form === 'float32' ? faultInType(vector.values, expected, outputType) : undefined
    if (fault === undefined) continue
    const { reason, wrongWidth } = fault
    throw new BrokenAnswer(reason, { wrongWidth, isLasting: wrongWidth !== undefined })
  }
  return expected
}
