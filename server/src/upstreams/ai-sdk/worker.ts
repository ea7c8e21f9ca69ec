/** Runs in a worker thread, where a large answer may be parsed and validated for as long as it takes. */
import { parentPort, workerData } from 'node:worker_threads'
import type { FailureDetail, FailureKind } from '#core/failure.ts'
import { UpstreamFailure } from '#core/failure.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import type { FetchOptions } from '../fetch.ts'
import { makeFetch } from '../fetch.ts'
import type { Block } from './exchange.ts'
import { aiSdkExchange } from './exchange.ts'

export interface WorkerRequest {
  readonly id: number
  readonly call: EmbeddingCall
}

export type WorkerReply =
  | { readonly id: number; readonly block: Block }
  | { readonly id: number; readonly failure: { kind: FailureKind; message: string; detail: FailureDetail } }
  /** A defect of ours. */
  | { readonly id: number; readonly error: string }

const exchange = aiSdkExchange(makeFetch(workerData as FetchOptions))

async function replyTo({ id, call }: WorkerRequest): Promise<void> {
  try {
    const block = await exchange(call)
    parentPort?.postMessage({ id, block } satisfies WorkerReply, [block.values.buffer])
  } catch (error) {
    const reply: WorkerReply =
      error instanceof UpstreamFailure
        ? { id, failure: { kind: error.kind, message: error.message, detail: error.detail } }
        : { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    parentPort?.postMessage(reply)
  }
}

parentPort?.on('message', (request: WorkerRequest) => void replyTo(request))
