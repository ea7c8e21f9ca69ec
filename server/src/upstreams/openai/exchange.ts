/** One embeddings call over the OpenAI wire: send, scan the answer as it arrives, classify what went wrong. */
import { AnswerScanner } from '#core/embedding/answer-scan.ts'
import { ErrorInAnswer, orderAnswer } from '#core/embedding/answer.ts'
import { inputCount, inputSize } from '#core/embedding/input.ts'
import type { Upstream } from '#core/catalog/catalog.ts'
import type { EmbeddingAnswer, EmbeddingCall, EmbeddingUpstream } from '#ports/upstream.ts'
import { failureOfAnswer, failureOfError, failureOfErrorObject, requestIdIn } from './failures.ts'
import { isUnsent, type HttpAnswer, type UpstreamHttp } from '../connect/http.ts'
import { embeddingBody, type Target } from './embedding.ts'

/** The properties of a dialect of the OpenAI family. */
export interface OpenaiDialect {
  target(upstream: Upstream): Target
  path(target: Target, call: EmbeddingCall): string
}

export function exchangeEmbedding(
  dialect: OpenaiDialect,
  http: UpstreamHttp,
  yieldLoop: () => Promise<unknown>,
): EmbeddingUpstream {
  const targets = new WeakMap<Upstream, Target>()

  return {
    async embed(call) {
      const { upstream } = call.deployment
      let target = targets.get(upstream)
      if (target === undefined) {
        target = dialect.target(upstream)
        targets.set(upstream, target)
      }
      if (inputSize(call.inputs) > LARGE_INPUT) await yieldLoop()
      const { width, fullWidth, wantedForm, outputType } = call
      const scanner = new AnswerScanner({ width, fullWidth, wantedForm, outputType, decode })
      let answer: HttpAnswer
      try {
        answer = await http.post(
          {
            origin: target.origin,
            tls: target.tls,
            path: dialect.path(target, call),
            headers: headersOf(target, call),
            body: embeddingBody(call),
            timeoutMs: call.timeoutMs,
          },
          scanner,
        )
      } catch (error) {
        const charge = isUnsent(error) ? 'none' : undefined
        throw failureOfError(error, { deployment: call.deployment.id, charge })
      }
      if (answer.status < 200 || answer.status > 299) throw failureOfAnswer(answer, call.deployment)
      return read(scanner, call, answer)
    },
  }
}

function headersOf({ headers }: Target, { callId, traceHeaders }: EmbeddingCall): string[] {
  const own = [...headers, 'x-torana-call-id', callId]
  if (traceHeaders !== undefined) own.push(...traceHeaders)
  return own
}

/** Characters of text, or token ids, whose JSON takes longer than a millisecond to write. */
const LARGE_INPUT = 128 * 1024

function read(
  scanner: AnswerScanner,
  call: EmbeddingCall,
  { status, headers, firstByteMs }: HttpAnswer,
): EmbeddingAnswer {
  const { inputs, deployment } = call
  try {
    const scanned = scanner.end()
    const answer = orderAnswer(scanned, inputCount(inputs))
    const { countsTokens } = deployment.capabilities
    return {
      vectors: answer.vectors,
      isFullWidth: scanned.width !== call.width,
      usage: countsTokens ? answer.usage : { kind: 'unknown' },
      model: answer.model,
      extraFields: answer.extraFields,
      firstByteMs,
      upstreamRequestId: requestIdIn(headers),
    }
  } catch (error) {
    const detail = { deployment: deployment.id, status, upstreamRequestId: requestIdIn(headers) }
    throw error instanceof ErrorInAnswer
      ? failureOfErrorObject(error.error, deployment.upstream, detail)
      : failureOfError(error, detail)
  }
}

/** Node's own decoders, which the pure scanner can't name. */
export function decode(bytes: Uint8Array, start: number, end: number, encoding: 'latin1' | 'utf8'): string {
  const { latin1Slice, utf8Slice } = Buffer.prototype
  return encoding === 'latin1' ? latin1Slice.call(bytes, start, end) : utf8Slice.call(bytes, start, end)
}
