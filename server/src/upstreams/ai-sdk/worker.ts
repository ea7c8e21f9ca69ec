/** Runs in a worker thread, where parsing and validating a large answer may take long. */
import { workerData } from 'node:worker_threads'
import type { FailureDetail, FailureKind } from '#core/fault/failure.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { ImageAnswer } from '#ports/image-upstream.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { serve, type ThreadCall } from '#thread/serve.ts'
import type { FetchOptions } from '../connect/fetch.ts'
import { makeFetch } from '../connect/fetch.ts'
import { GuardedPictureFetcher } from '../connect/picture-fetch.ts'
import type { Block } from './exchange.ts'
import { aiSdkExchange } from './exchange.ts'
import type { LoadedCall } from './image-edit.ts'
import type { ImageLimits } from './image-fetch.ts'
import { aiSdkImageExchange } from './image-exchange.ts'

export interface WorkerOptions extends FetchOptions {
  /** Undefined when this thread makes no images. */
  readonly images?: ImageLimits
}

/** How a call ended: failures cross to the other thread as data. */
export type Outcome<Answer> =
  | { readonly answer: Answer }
  | {
      readonly failure: {
        readonly kind: FailureKind
        readonly message: string
        readonly detail: FailureDetail
        readonly reason: string
      }
    }

const options = workerData as WorkerOptions
const fetch = makeFetch(options)
const embed = aiSdkExchange(fetch)
const pictures = new GuardedPictureFetcher(options)
const generate = options.images && aiSdkImageExchange({ ...options.images, fetch, pictures })

async function outcomeOf<Answer>(asked: Promise<Answer>): Promise<Outcome<Answer>> {
  try {
    return { answer: await asked }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    const { kind, message, detail, reason } = error
    return { failure: { kind, message, detail, reason } }
  }
}

const works = {
  async embed(call: EmbeddingCall, { handOver }: ThreadCall): Promise<Outcome<Block>> {
    const outcome = await outcomeOf(embed(call))
    if ('answer' in outcome) handOver([outcome.answer.values.buffer])
    return outcome
  },
  /** Reports what an upstream answered to an accepted call, which continues once that is recorded. */
  async generate(call: LoadedCall, { tell, handOver }: ThreadCall<string>): Promise<Outcome<ImageAnswer>> {
    if (generate === undefined) throw new Error('this thread makes no pictures')
    const outcome = await outcomeOf(generate(call, tell))
    if ('answer' in outcome) handOver(outcome.answer.pictures.map(({ bytes }) => bytes.buffer))
    return outcome
  },
}

export type AiSdkWorks = typeof works
serve(works)
