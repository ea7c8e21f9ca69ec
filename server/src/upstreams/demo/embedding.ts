/** The upstream of a first start: a real model in a thread of this process, so that it never blocks requests. */
import { faultIn } from '#core/embedding/vector.ts'
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import type { EmbeddingAnswer, EmbeddingCall, EmbeddingUpstream } from '#ports/upstream.ts'
import { ThreadBusy } from '#ports/asker.ts'
import { Thread, type ThreadLimits } from '#thread/thread.ts'
import { Turns } from '#thread/turns.ts'
import type { DemoWorks } from './model-worker.ts'

/** Texts of one turn at the thread: half a second of work. Then another project has its turn. */
const TEXTS_A_TURN = 32
/** Calls of one project that wait for a turn: more would only time out. */
const MAX_WAITING = 256
/** The model takes a hundred; a request's texts and their vectors some more. Two thousand texts on a slow core take minutes. */
const LIMITS: ThreadLimits = { memoryMb: 512, maxTaskMs: 600_000 }

export class DemoEmbedding implements EmbeddingUpstream {
  readonly #thread = new Thread<DemoWorks>(new URL('./model-worker.ts', import.meta.url), LIMITS)
  readonly #turns = new Turns({ atOnce: 1, maxWaiting: MAX_WAITING })

  /** Loads the model ahead of the first request, which would otherwise wait for it. */
  warmUp(): void {
    // Should it fail, the first request fails in the same way and is told why.
    this.#thread.ask('embed', ['warm up']).catch(() => {})
  }

  async embed({ inputs, deployment, project, width, timeoutMs }: EmbeddingCall): Promise<EmbeddingAnswer> {
    const texts = inputs.kind === 'texts' ? inputs.texts : []
    const failureOf = (kind: FailureKind, message: string, retryAfterMs?: number): UpstreamFailure =>
      new UpstreamFailure(kind, message, { deployment: deployment.id, retryAfterMs })
    const endMs = performance.now() + timeoutMs
    const vectors: Float32Array[] = []
    let tokens = 0
    try {
      for (let start = 0; start < texts.length; start += TEXTS_A_TURN) {
        const asker = { project, timeoutMs: endMs - performance.now() }
        const some = texts.slice(start, start + TEXTS_A_TURN)
        const made = await this.#turns.run(asker, () => this.#thread.ask('embed', some))
        vectors.push(...made.vectors)
        tokens += made.tokens
      }
    } catch (error) {
      if (!(error instanceof ThreadBusy)) throw failureOf('failed', (error as Error).message)
      throw error.kind === 'full'
        ? failureOf('rateLimited', 'the demo model has too much to do', 1000)
        : failureOf('timedOut', `the demo model took longer than ${timeoutMs} ms`)
    }
    const fault = vectors.map((values) => faultIn(values, width)).find((found) => found !== undefined)
    if (fault !== undefined) throw failureOf('broken', fault.reason)
    return {
      vectors: vectors.map((values) => ({ form: 'float32', values })),
      usage: { kind: 'measured', tokens },
      extraFields: {},
    }
  }

  close(): Promise<void> {
    this.#turns.close()
    return this.#thread.close()
  }
}
