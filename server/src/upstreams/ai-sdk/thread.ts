/** The thread that calls through the AI SDK run in, seen from outside. It starts with the first call. */
import { Worker } from 'node:worker_threads'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { ImageAnswer } from '#ports/image-upstream.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import type { Block } from './exchange.ts'
import { timedOut } from './failures.ts'
import type { LoadedCall } from './image-edit.ts'
import { buffersOf } from './image-edit.ts'
import type { WorkerOptions, WorkerReply, WorkerRequest } from './worker.ts'

type Answer = Block | ImageAnswer

interface Waiting {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
  readonly submitted: Submitted
  readonly timer: NodeJS.Timeout
}

type Submitted = (text: string) => Promise<void>

export interface AiSdkThread {
  embed(call: EmbeddingCall): Promise<Block>
  /** Takes the pictures that are to be edited with it: afterwards nobody else can read them. */
  generate(call: LoadedCall, submitted: Submitted): Promise<ImageAnswer>
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

export function aiSdkThread(options: WorkerOptions): AiSdkThread {
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
      if ('submitted' in reply) void record(thread, reply.id, reply.submitted)
      else settle(reply)
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

  function settle(reply: Exclude<WorkerReply, { submitted: string }>): void {
    const call = take(reply.id)
    if ('answer' in reply) call?.resolve(reply.answer)
    else if ('failure' in reply) {
      const { kind, message, detail } = reply.failure
      call?.reject(new UpstreamFailure(kind, message, detail))
    } else call?.reject(new Error(`A call through the AI SDK failed in a way nobody foresaw: ${reply.error}`))
  }

  async function record(thread: Worker, id: number, text: string): Promise<void> {
    const call = waiting.get(id)
    if (call === undefined) return
    try {
      await call.submitted(text)
      thread.postMessage({ kind: 'recorded', id } satisfies WorkerRequest)
    } catch (error) {
      // What could not be written down is not waited for; the thread gives up at the call's own time.
      take(id)?.reject(error)
    }
  }

  function ask(request: Exclude<WorkerRequest, { kind: 'recorded' }>, submitted: Submitted) {
    worker ??= started()
    const thread = worker
    const { id, call } = request
    return new Promise<Answer>((resolve, reject) => {
      thread.postMessage(request, request.kind === 'image' ? buffersOf(request.call.edit) : [])
      // The thread gives up by itself at this time, unless it is busy with another answer or still waits for a token.
      const timer = setTimeout(() => take(id)?.reject(timedOut(call)), call.timeoutMs)
      waiting.set(id, { resolve, reject, submitted, timer })
      thread.ref()
    })
  }

  return {
    embed: (call) => ask({ kind: 'embedding', id: (lastId += 1), call }, nothingToRecord) as Promise<Block>,
    generate: (call, submitted) =>
      ask({ kind: 'image', id: (lastId += 1), call }, submitted) as Promise<ImageAnswer>,
  }
}

const nothingToRecord: Submitted = () => Promise.resolve()
