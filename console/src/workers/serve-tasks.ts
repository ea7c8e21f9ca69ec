/** The worker's side of `WorkerClient`: each message is answered by the handler of its kind. */
import type { TaskMessage, TaskReply, TaskTable } from './worker-client.ts'

type Handlers<Tasks extends TaskTable<Tasks>> = {
  readonly [Kind in keyof Tasks]: (
    request: Tasks[Kind]['request'],
  ) => Tasks[Kind]['response'] | Promise<Tasks[Kind]['response']>
}

export function serveTasks<Tasks extends TaskTable<Tasks>>(handlers: Handlers<Tasks>): void {
  const reply = async ({ id, kind, request }: TaskMessage): Promise<void> => {
    try {
      const response = await handlers[kind as keyof Tasks](request)
      post({ id, response }, transferablesIn(response))
    } catch (error) {
      post({ id, error: error instanceof Error ? error.message : String(error) })
    }
  }
  addEventListener('message', ({ data }: MessageEvent<TaskMessage>) => void reply(data))
}

/** Buffers and bitmaps are moved to the page, not copied. */
function transferablesIn(response: unknown): Transferable[] {
  if (typeof response !== 'object' || response === null) return []
  return Object.values(response).flatMap((part): Transferable[] =>
    ArrayBuffer.isView(part) ? [part.buffer as ArrayBuffer] : part instanceof ImageBitmap ? [part] : [],
  )
}

function post(reply: TaskReply, transfer: Transferable[] = []): void {
  postMessage(reply, { transfer })
}
