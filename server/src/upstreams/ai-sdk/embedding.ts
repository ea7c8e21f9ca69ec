/**
 * Embeddings of upstreams whose wire is not OpenAI's, through the AI SDK's provider packages. A package parses and
 * validates number by number, which takes 40 to 360 ms for its largest batch: so whole calls run in a worker thread, and
 * the event loop only sees one block of memory come back.
 */
import { Worker } from 'node:worker_threads'
import type { Float32Vector } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/failure.ts'
import type { EmbeddingCall, EmbeddingUpstream } from '#ports/upstream.ts'
import type { FetchOptions } from '../fetch.ts'
import type { Block } from './exchange.ts'
import { timedOut } from './failures.ts'
import type { WorkerReply, WorkerRequest } from './worker.ts'

interface Waiting {
  readonly resolve: (block: Block) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

/**
 * All that the thread sees of the environment. The packages would take keys, regions and even addresses from it; only
 * Google's auth library, which brings its own credentials and connections, may look these up.
 */
const ENVIRONMENT = [
  'GOOGLE_APPLICATION_CREDENTIALS',
  'CLOUDSDK_CONFIG',
  'GCE_METADATA_HOST',
  'HOME',
  'APPDATA',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
]

const NO_FIELDS = Object.freeze({})

export function aiSdkEmbedding(options: FetchOptions): EmbeddingUpstream {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let lastId = 0

  function take(id: number): Waiting | undefined {
    const call = waiting.get(id)
    clearTimeout(call?.timer)
    waiting.delete(id)
    // A thread that nobody waits for must not keep the process alive.
    if (waiting.size === 0) worker?.unref()
    return call
  }

  function started(): Worker {
    const env = Object.fromEntries(
      ENVIRONMENT.map((name) => [name, process.env[name]]).filter(([, value]) => value),
    )
    const thread = new Worker(new URL('./worker.ts', import.meta.url), { env, workerData: options })
    thread.on('message', (reply: WorkerReply) => {
      const call = take(reply.id)
      if ('block' in reply) call?.resolve(reply.block)
      else if ('failure' in reply) {
        const { kind, message, detail } = reply.failure
        call?.reject(new UpstreamFailure(kind, message, detail))
      } else
        call?.reject(new Error(`A call through the AI SDK failed in a way nobody foresaw: ${reply.error}`))
    })
    const ended = (error: Error): void => {
      if (worker !== thread) return
      worker = undefined
      for (const id of waiting.keys()) take(id)?.reject(error)
    }
    thread.on('error', ended)
    thread.on('exit', (code) => ended(new Error(`The AI SDK's thread ended with ${code}.`)))
    return thread
  }

  function ask(call: EmbeddingCall): Promise<Block> {
    worker ??= started()
    const thread = worker
    lastId += 1
    const request: WorkerRequest = { id: lastId, call }
    return new Promise((resolve, reject) => {
      thread.postMessage(request)
      // The thread gives up by itself at this time, unless it is busy with another answer or still waits for a token.
      const timer = setTimeout(() => take(request.id)?.reject(timedOut(call)), call.timeoutMs)
      waiting.set(request.id, { resolve, reject, timer })
      thread.ref()
    })
  }

  return {
    async embed(call) {
      const { values, usage } = await ask(call)
      const vectors = Array.from({ length: values.length / call.width }, (_, index): Float32Vector => {
        return { form: 'float32', values: values.subarray(index * call.width, (index + 1) * call.width) }
      })
      return { vectors, usage, extraFields: NO_FIELDS }
    },
  }
}
