/** Runs in a worker thread, where a large answer may be parsed and validated for as long as it takes. */
import { parentPort, workerData } from 'node:worker_threads'
import type { FailureDetail, FailureKind } from '#core/fault/failure.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { ImageAnswer } from '#ports/image-upstream.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import type { FetchOptions } from '../connect/fetch.ts'
import { makeFetch } from '../connect/fetch.ts'
import { GuardedPictureFetcher } from '../connect/picture-fetch.ts'
import type { Block } from './exchange.ts'
import { aiSdkExchange } from './exchange.ts'
import type { LoadedCall } from './image-edit.ts'
import type { ImageLimits } from './image-fetch.ts'
import { aiSdkImageExchange } from './image-exchange.ts'

export interface WorkerOptions extends FetchOptions {
  /** Absent: this thread makes no pictures. */
  readonly images?: ImageLimits
}

export type WorkerRequest =
  | { readonly kind: 'embedding'; readonly id: number; readonly call: EmbeddingCall }
  | { readonly kind: 'image'; readonly id: number; readonly call: LoadedCall }
  /** What call `id` told by `submitted` is written down: it may go on. */
  | { readonly kind: 'recorded'; readonly id: number }

export type WorkerReply =
  | { readonly id: number; readonly answer: Block | ImageAnswer }
  | { readonly id: number; readonly submitted: string }
  | { readonly id: number; readonly failure: { kind: FailureKind; message: string; detail: FailureDetail } }
  /** A defect of ours. */
  | { readonly id: number; readonly error: string }

const options = workerData as WorkerOptions
const fetch = makeFetch(options)
const embed = aiSdkExchange(fetch)
const pictures = new GuardedPictureFetcher(options)
const generate = options.images && aiSdkImageExchange({ ...options.images, fetch, pictures })
const recorded = new Map<number, () => void>()

function reply(message: WorkerReply, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}

function submitted(id: number, text: string): Promise<void> {
  reply({ id, submitted: text })
  return new Promise((resolve) => recorded.set(id, resolve))
}

async function answer(request: Exclude<WorkerRequest, { kind: 'recorded' }>): Promise<void> {
  const { id } = request
  try {
    if (request.kind === 'embedding') {
      const block = await embed(request.call)
      reply({ id, answer: block }, [block.values.buffer])
    } else {
      if (generate === undefined) throw new Error('this thread makes no pictures')
      const made = await generate(request.call, (text) => submitted(id, text))
      reply(
        { id, answer: made },
        made.pictures.map(({ bytes }) => bytes.buffer),
      )
    }
  } catch (error) {
    reply(
      error instanceof UpstreamFailure
        ? { id, failure: { kind: error.kind, message: error.message, detail: error.detail } }
        : { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    )
  } finally {
    recorded.delete(id)
  }
}

parentPort?.on('message', (request: WorkerRequest) => {
  if (request.kind === 'recorded') recorded.get(request.id)?.()
  else void answer(request)
})
