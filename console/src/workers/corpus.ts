/** Starts the worker that reads files of rows and writes files of vectors. The page has a few megabytes of either at a time. */
import type { Decision, Measured, MeasuredStep, WantedLines } from './corpus/batch-lines.ts'
import type { CorpusProfile } from './corpus/profile.ts'
import type { WantedVectors } from './corpus/vector-rows.ts'
import { WorkerClient } from './worker-client.ts'

/** Work that goes on for long is begun, and then asked for step by step: what is shown moves, and closing the worker ends it. */
export interface CorpusTasks {
  readonly profile: { readonly request: File; readonly response: void }
  /** Reads on. */
  readonly read: { readonly request: void; readonly response: ReadStep }
  readonly lines: { readonly request: WantedLines; readonly response: void }
  /** Reads on, with what is decided of the long texts of the step before. */
  readonly measure: {
    readonly request: readonly Decision[]
    readonly response: MeasuredStep | { readonly measured: Measured }
  }
  /** The next bytes of the measured lines. */
  readonly part: { readonly request: void; readonly response: { readonly bytes?: Uint8Array<ArrayBuffer> } }
  readonly vectors: { readonly request: WantedResults; readonly response: void }
  readonly convert: { readonly request: void; readonly response: ConvertStep }
}

type ReadStep = { readonly readBytes: number } | { readonly profile: CorpusProfile }

export interface WantedResults extends WantedVectors {
  /** Addresses of the results, and their size. */
  readonly files: readonly { readonly url: string; readonly bytes: number }[]
}

/** The share that is done, or the whole file. */
type ConvertStep = { readonly share: number } | { readonly file: Blob }

export type CorpusClient = WorkerClient<CorpusTasks>

/** A worker for one piece of work, which ends with it, or when it is aborted: its memory is given back. */
export async function withCorpusWorker<Result>(
  signal: AbortSignal,
  work: (worker: CorpusClient) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  const worker: CorpusClient = new WorkerClient(
    new Worker(new URL('./corpus.worker.ts', import.meta.url), { type: 'module' }),
  )
  const close = (): void => worker.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    return await work(worker)
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}
