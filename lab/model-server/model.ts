import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { RunResult } from './model-worker.ts'

/** A larger run only makes the callers behind it wait longer: about a second for 64 sentences. */
const maxTextsPerRun = 64

/** One OpenAI request of the largest size. At some 15 ms a text that is half a minute of waiting, enough for anyone. */
const maxQueuedTexts = 2048

export type Embedded = {
  vectors: Float32Array[]
  tokens: number[]
  /** How long the model itself worked on it, waiting apart. */
  runMs: number
  cpuMs: number
}

/** Since the start. Texts of different calls never share a run. */
export type ModelCounters = {
  calls: number
  texts: number
  runs: number
  largestRun: number
  /** The model was working. */
  busyMs: number
  cpuMs: number
  /** Of calls that wait or run now. */
  queuedTexts: number
}

export class QueueFull extends Error {}
export class ModelStopped extends Error {}

/** Universal Sentence Encoder lite, in a worker thread: a run blocks its thread from start to end. */
export class SentenceModel {
  readonly #worker: Worker
  readonly #counters: ModelCounters = {
    calls: 0,
    texts: 0,
    runs: 0,
    largestRun: 0,
    busyMs: 0,
    cpuMs: 0,
    queuedTexts: 0,
  }
  #lastRun: Promise<unknown> = Promise.resolve()
  readonly #stopped: Promise<never>

  private constructor(worker: Worker) {
    this.#worker = worker
    this.#stopped = new Promise((_, reject) => {
      worker.once('error', reject)
      worker.once('exit', () => reject(new ModelStopped('The model has stopped.')))
    })
    // The thread may end while no call waits. A call that does gets the reason from the race below.
    this.#stopped.catch(() => {})
  }

  static async load(): Promise<SentenceModel> {
    const worker = new Worker(new URL('./model-worker.ts', import.meta.url))
    await once(worker, 'message')
    return new SentenceModel(worker)
  }

  async embed(texts: string[]): Promise<Embedded> {
    const counters = this.#counters
    if (counters.queuedTexts + texts.length > maxQueuedTexts) {
      throw new QueueFull(`${counters.queuedTexts} texts are waiting, at most ${maxQueuedTexts} may.`)
    }
    counters.calls += 1
    counters.queuedTexts += texts.length
    try {
      const runs: Embedded[] = []
      for (let start = 0; start < texts.length; start += maxTextsPerRun) {
        runs.push(await this.#afterOthers(texts.slice(start, start + maxTextsPerRun)))
      }
      return {
        vectors: runs.flatMap(({ vectors }) => vectors),
        tokens: runs.flatMap(({ tokens }) => tokens),
        runMs: runs.reduce((sum, { runMs }) => sum + runMs, 0),
        cpuMs: runs.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      }
    } finally {
      counters.queuedTexts -= texts.length
    }
  }

  counters(): ModelCounters {
    return { ...this.#counters }
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
    this.#count(texts.length, result)
    return result
  }

  #count(texts: number, { runMs, cpuMs }: Embedded): void {
    const counters = this.#counters
    counters.texts += texts
    counters.runs += 1
    counters.largestRun = Math.max(counters.largestRun, texts)
    counters.busyMs += runMs
    counters.cpuMs += cpuMs
  }
}
