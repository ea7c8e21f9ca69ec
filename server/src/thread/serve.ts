/** The inside of a thread that `thread.ts` asks, or of a process that `process.ts` asks. */
import { parentPort, type MessagePort, type Transferable } from 'node:worker_threads'

/** What work gets besides its request. */
export interface ThreadCall<News = never> {
  /** Reaches the asker before the answer, one at a time. Resolves when the asker has handled it, or never. */
  tell(this: void, news: News, transfer?: readonly Transferable[]): Promise<void>
  /** Transfers these with the answer instead of copying them. */
  handOver(this: void, buffers: readonly Transferable[]): void
}

/** An error that it throws fails this one question. Failures that callers distinguish are answers. */
export type Work = (request: never, call: ThreadCall) => unknown

export type NewsOf<Asked extends Work> = Asked extends (
  request: never,
  call: ThreadCall<infer News>,
) => unknown
  ? News
  : never

export type ToThread =
  | { readonly id: number; readonly name: string; readonly request: unknown }
  | { readonly id: number; readonly heard: true }

export type FromThread =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly news: unknown }
  | { readonly id: number; readonly error: { readonly message: string; readonly stack: string | undefined } }

/** The texts of a thrown value, which can cross. */
function wordsOf(error: unknown): { readonly message: string; readonly stack: string | undefined } {
  try {
    // An error's fields may be anything that a library put there.
    const { message, stack }: { readonly message: unknown; readonly stack?: unknown } =
      error instanceof Error ? error : new Error(String(error))
    return { message: String(message), stack: typeof stack === 'string' ? stack : undefined }
  } catch {
    return { message: 'something without words was thrown', stack: undefined }
  }
}

interface Port {
  post(message: FromThread, transfer: readonly Transferable[]): void
  hear(take: (message: ToThread) => void): void
}

/** Does the work that is requested by name. Questions overlap wherever the work waits. */
export function serve(works: Readonly<Record<string, Work>>): void {
  const unheard = new Map<number, () => void>()
  const port = parentPort === null ? portOfProcess() : portOfThread(parentPort)
  const post = (message: FromThread, transfer: readonly Transferable[] = []): void =>
    port.post(message, transfer)

  async function answer({ id, name, request }: Extract<ToThread, { name: string }>): Promise<void> {
    const transfer: Transferable[] = []
    const call: ThreadCall<unknown> = {
      tell(news, buffers) {
        post({ id, news }, buffers)
        return new Promise((resolve) => unheard.set(id, resolve))
      },
      handOver: (buffers) => void transfer.push(...buffers),
    }
    try {
      const work = works[name]
      if (work === undefined) throw new Error(`this thread knows no ${name}`)
      post({ id, answer: await work(request as never, call) }, transfer)
    } catch (error) {
      post({ id, error: wordsOf(error) })
    } finally {
      unheard.delete(id)
    }
  }

  port.hear((message) => {
    if ('name' in message) void answer(message)
    else unheard.get(message.id)?.()
  })
}

function portOfThread(port: MessagePort): Port {
  return {
    post: (message, transfer) => port.postMessage(message, [...transfer]),
    hear(take) {
      // An unreadable question: it is not known which one, so the asker must learn of the end.
      port.on('messageerror', (error: Error) => {
        throw error
      })
      port.on('message', take)
    },
  }
}

function portOfProcess(): Port {
  return {
    post: (message) => void process.send?.(message),
    hear(take) {
      process.on('message', take)
      process.on('disconnect', () => process.exit())
      // A terminal or a service manager sends these to the whole group: the node decides when its work is done.
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
    },
  }
}
