/** The upstream of a first start: a real model in a thread of this process, so that it never blocks requests. */
import { Worker } from 'node:worker_threads'
import { faultIn } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { EmbeddingAnswer, EmbeddingCall, EmbeddingUpstream } from '#ports/upstream.ts'
import type { DemoReply } from './model-worker.ts'

/** At some 15 ms a text this is half a minute of work; more would only time out. */
const MAX_WAITING_TEXTS = 2048

interface Waiting {
  readonly texts: number
  settle(reply: DemoReply | Error): void
}

export class DemoEmbedding implements EmbeddingUpstream {
  #worker: Worker | undefined
  readonly #waiting = new Map<number, Waiting>()
  #waitingTexts = 0
  #lastId = 0

  /** Loads the model ahead of the first request, which would otherwise wait for it. */
  warmUp(): void {
    this.#ask(['warm up'], () => {})
  }

  embed(call: EmbeddingCall): Promise<EmbeddingAnswer> {
    const { inputs, deployment, width } = call
    const texts = inputs.kind === 'texts' ? inputs.texts : []
    const detail = { deployment: deployment.id }
    if (this.#waitingTexts + texts.length > MAX_WAITING_TEXTS) {
      const failure = new UpstreamFailure('rateLimited', 'the demo model has too much to do', {
        ...detail,
        retryAfterMs: 1000,
      })
      return Promise.reject(failure)
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(
          new UpstreamFailure('timedOut', `the demo model took longer than ${call.timeoutMs} ms`, detail),
        )
      }, call.timeoutMs)
      this.#ask(texts, (reply) => {
        clearTimeout(timer)
        if (reply instanceof Error || 'error' in reply) {
          const message = reply instanceof Error ? reply.message : reply.error
          reject(new UpstreamFailure('failed', message, detail))
          return
        }
        const fault = reply.vectors
          .map((values) => faultIn(values, width))
          .find((found) => found !== undefined)
        if (fault !== undefined) reject(new UpstreamFailure('broken', fault.reason, detail))
        resolve({
          vectors: reply.vectors.map((values) => ({ form: 'float32', values })),
          usage: { kind: 'measured', tokens: reply.tokens },
          extraFields: {},
        })
      })
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #ask(texts: readonly string[], settle: Waiting['settle']): void {
    this.#lastId += 1
    this.#waiting.set(this.#lastId, { texts: texts.length, settle })
    this.#waitingTexts += texts.length
    this.#running().postMessage({ id: this.#lastId, texts })
  }

  #end(id: number, reply: DemoReply | Error): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.delete(id)
    this.#waitingTexts -= waiting.texts
    waiting.settle(reply)
  }

  #running(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(new URL('./model-worker.ts', import.meta.url))
    worker.unref()
    worker.on('message', (reply: DemoReply) => this.#end(reply.id, reply))
    const stop = (error: Error): void => {
      if (this.#worker === worker) this.#worker = undefined
      for (const id of this.#waiting.keys()) this.#end(id, error)
    }
    worker.on('error', stop)
    worker.on('exit', (code) => stop(new Error(`the demo model's thread ended with ${code}`)))
    this.#worker = worker
    return worker
  }
}
