/** The one kind of worker thread: it does work that is requested by name. Its inside is `serve.ts`. */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { Asked, type AskedLimits, type Reports, type Side } from './asked.ts'
import type { FromThread, Work } from './serve.ts'

/** The limits of a thread. Each number has its reason where it is written. */
export interface ThreadLimits extends AskedLimits {
  /**
   * Megabytes of JavaScript values; bytes in buffers do not count. A thread that grows beyond them ends, and
   * the process lives on. One large allocation at the limit ends the whole process: untrusted data of any
   * size belongs in a process (`process.ts`).
   */
  readonly memoryMb: number
}

export class Thread<Works extends Record<string, Work>> extends Asked<Works> {
  /** `module` calls `serve`. */
  constructor(module: URL, limits: ThreadLimits, options: WorkerOptions = {}) {
    const resourceLimits = { maxOldGenerationSizeMb: limits.memoryMb }
    super((reports) => startThread(module, { ...options, resourceLimits }, reports), limits)
  }
}

function startThread(module: URL, options: WorkerOptions, reports: Reports): Side {
  const worker = new Worker(module, options)
  worker.on('message', (message: FromThread) => reports.message(message))
  worker.on('error', (error) => reports.ended(error))
  worker.on('exit', (code) => reports.ended(new Error(`the thread of ${module.pathname} ended with ${code}`)))
  // An unreadable answer: its question is not known.
  worker.on('messageerror', (error) => reports.ended(error))
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    end: () => worker.terminate(),
    ref: () => worker.ref(),
    unref: () => worker.unref(),
  }
}

/** Longest timer: Node's timers ring immediately beyond it. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The answer to a question, or `late()` when the time is up. The thread continues its work: it does not learn of that. */
export async function inTime<Answer>(
  asked: Promise<Answer>,
  timeoutMs: number,
  late: () => Error,
): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late()), Math.max(0, Math.min(timeoutMs, MAX_TIMER_MS)))
  try {
    return await Promise.race([asked, promise])
  } finally {
    clearTimeout(timer)
  }
}
