/** The upstream of a first start: a real model in a thread of this process, so that it never blocks requests. */
import { faultIn } from '#core/embedding/vector.ts'
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import type { EmbeddingAnswer, EmbeddingCall, EmbeddingUpstream } from '#ports/upstream.ts'
import { inTime, Thread, type ThreadLimits } from '#thread/thread.ts'
import type { DemoWorks } from './model-worker.ts'

/** At some 15 ms a text this is half a minute of work; more would only time out. */
const MAX_WAITING_TEXTS = 2048
/** The model takes a hundred; a request's texts and their vectors some more. Two thousand texts on a slow core take minutes. */
const LIMITS: ThreadLimits = { memoryMb: 512, maxTaskMs: 600_000 }

export class DemoEmbedding implements EmbeddingUpstream {
  readonly #thread = new Thread<DemoWorks>(new URL('./model-worker.ts', import.meta.url), LIMITS)
  #waitingTexts = 0

  /** Loads the model ahead of the first request, which would otherwise wait for it. */
  warmUp(): void {
    // Should it fail, the first request fails in the same way and is told why.
    this.#ask(['warm up']).catch(() => {})
  }

  async embed({ inputs, deployment, width, timeoutMs }: EmbeddingCall): Promise<EmbeddingAnswer> {
    const texts = inputs.kind === 'texts' ? inputs.texts : []
    const failureOf = (kind: FailureKind, message: string, retryAfterMs?: number): UpstreamFailure =>
      new UpstreamFailure(kind, message, { deployment: deployment.id, retryAfterMs })
    if (this.#waitingTexts + texts.length > MAX_WAITING_TEXTS)
      throw failureOf('rateLimited', 'the demo model has too much to do', 1000)
    const asked = this.#ask(texts).catch((error: Error) => {
      throw failureOf('failed', error.message)
    })
    const { vectors, tokens } = await inTime(asked, timeoutMs, () =>
      failureOf('timedOut', `the demo model took longer than ${timeoutMs} ms`),
    )
    const fault = vectors.map((values) => faultIn(values, width)).find((found) => found !== undefined)
    if (fault !== undefined) throw failureOf('broken', fault.reason)
    return {
      vectors: vectors.map((values) => ({ form: 'float32', values })),
      usage: { kind: 'measured', tokens },
      extraFields: {},
    }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  async #ask(texts: readonly string[]) {
    this.#waitingTexts += texts.length
    try {
      return await this.#thread.ask('embed', texts)
    } finally {
      this.#waitingTexts -= texts.length
    }
  }
}
