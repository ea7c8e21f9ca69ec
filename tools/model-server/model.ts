import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { RunResult } from './model-worker.ts'

/** A larger run only makes the callers behind it wait longer: about a second for 64 sentences. */
const maxTextsPerRun = 64

/** One OpenAI request of the largest size. At some 15 ms a text that is half a minute of waiting, enough for anyone. */
const maxQueuedTexts = 2048

export type Embedded = { vectors: Float32Array[]; tokens: number[] }

export class QueueFull extends Error {}
export class ModelStopped extends Error {}

/** Universal Sentence Encoder lite, in a worker thread: a run blocks its thread from start to end. */
export class SentenceModel {
  readonly #worker: Worker
  #queuedTexts = 0
  #lastRun: Promise<unknown> = Promise.resolve()
  readonly #stopped: Promise<never>

  private constructor(worker: Worker) {
    this.#worker = worker
    this.#stopped = new Promise((_, reject) => {
      worker.once('error', reject)
      worker.once('exit', () => reject(new ModelStopped('The model has stopped.')))
    })
    // Nobody may be waiting when the thread ends; whoever is, gets the reason from the race below.
    this.#stopped.catch(() => {})
  }

  static async load(): Promise<SentenceModel> {
    const worker = new Worker(new URL('./model-worker.ts', import.meta.url))
    await once(worker, 'message')
    return new SentenceModel(worker)
  }

  async embed(texts: string[]): Promise<Embedded> {
    if (this.#queuedTexts + texts.length > maxQueuedTexts) {
      throw new QueueFull(`${this.#queuedTexts} texts are waiting, at most ${maxQueuedTexts} may.`)
    }
    this.#queuedTexts += texts.length
    try {
      const runs: Embedded[] = []
      for (let start = 0; start < texts.length; start += maxTextsPerRun) {
        runs.push(await this.#afterOthers(texts.slice(start, start + maxTextsPerRun)))
      }
      return { vectors: runs.flatMap(({ vectors }) => vectors), tokens: runs.flatMap(({ tokens }) => tokens) }
    } finally {
      this.#queuedTexts -= texts.length
    }
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  /** Runs are strictly one after another, and a long request lets others in between its runs. */
  #afterOthers(texts: string[]): Promise<Embedded> {
    const run = this.#lastRun.then(() => this.#run(texts))
    this.#lastRun = run.catch(() => {})
    return run
  }

  async #run(texts: string[]): Promise<Embedded> {
    const answer = once(this.#worker, 'message')
    this.#worker.postMessage(texts)
    const [result] = (await Promise.race([answer, this.#stopped])) as [RunResult]
    if ('failure' in result) throw new Error(result.failure)
    return result
  }
}
