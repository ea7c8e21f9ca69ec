/** Hands the pictures of an edit to a thread that draws them, and brings back what it drew. */
import { Worker } from 'node:worker_threads'
import type { PixelSize } from '#core/catalog.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { EditCall, GivenBytes, GivenPicture, ImageCall } from '#ports/image-upstream.ts'
import { wholeOf } from '../connect/exact-bytes.ts'
import type { EditInput, EditReply, EditTask } from './edit-worker.ts'

/** Each takes a core, and some hundred megabytes for a large picture. */
const MAX_AT_ONCE = 2
/** At a second each, the last of so many is half a minute away. */
const MAX_WAITING = 64

export interface DrawnEdit {
  readonly size: PixelSize
  readonly pictures: readonly Uint8Array<ArrayBuffer>[]
}

export class DemoEdits {
  readonly #waiting: (() => void)[] = []
  #running = 0

  async draw(
    call: ImageCall,
    edit: EditCall,
    preview: (bytes: Uint8Array<ArrayBuffer>, size: PixelSize) => void,
  ): Promise<DrawnEdit> {
    const given = givenIn(edit)
    if (edit.fidelity !== undefined)
      throw failureOf(call, 'refused', 'the demo model knows no input_fidelity', 'input_fidelity')
    for (const { picture, field } of given) {
      if (picture.kind === 'address')
        throw failureOf(
          call,
          'refused',
          `the demo model takes files alone, and ${field} is an address`,
          field,
        )
    }
    const startedMs = performance.now()
    await this.#turn(call)
    try {
      const inputs: EditInput[] = []
      for (const { picture, field, number } of given) {
        if (picture.kind === 'bytes')
          inputs.push({ field, number, format: picture.format, bytes: await bytesOf(call, picture) })
      }
      const { prompt, images, size, partialImages: previews = 0, background } = call
      const task = { inputs, prompt, images, size, previews, isTransparent: background === 'transparent' }
      const timeoutMs = Math.max(0, call.timeoutMs - (performance.now() - startedMs))
      return await run({ ...call, timeoutMs }, task, preview)
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }

  async #turn(call: ImageCall): Promise<void> {
    if (this.#running < MAX_AT_ONCE) this.#running += 1
    else if (this.#waiting.length < MAX_WAITING)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else
      throw new UpstreamFailure('rateLimited', 'the demo model has too much to do', {
        deployment: call.deployment.id,
        retryAfterMs: 1000,
      })
  }
}

interface Numbered extends Pick<EditInput, 'field' | 'number'> {
  readonly picture: GivenPicture
}

function givenIn({ pictures, mask, markup }: EditCall): readonly Numbered[] {
  const given: Numbered[] = pictures.map((picture, index) => ({ picture, field: 'image', number: index + 1 }))
  if (mask) given.push({ picture: mask, field: 'mask', number: 1 })
  if (markup) given.push({ picture: markup, field: 'markup', number: 1 })
  return given
}

async function bytesOf(call: ImageCall, picture: GivenBytes): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await wholeOf(picture)
  } catch (error) {
    const failure = failureOf(call, 'failed', 'a file of the request could not be read')
    failure.cause = error
    throw failure
  }
}

async function run(
  call: ImageCall,
  task: EditTask,
  preview: (bytes: Uint8Array<ArrayBuffer>, size: PixelSize) => void,
): Promise<DrawnEdit> {
  const worker = new Worker(new URL('./edit-worker.ts', import.meta.url), {
    workerData: task,
    transferList: task.inputs.map(({ bytes }) => bytes.buffer),
  })
  let late: NodeJS.Timeout | undefined
  const pictures: Uint8Array<ArrayBuffer>[] = []
  try {
    return await new Promise<DrawnEdit>((resolve, reject) => {
      const fail = (...failure: FailureWords): void => reject(failureOf(call, ...failure))
      late = setTimeout(() => fail('timedOut', 'the demo model was not done in time'), call.timeoutMs)
      worker.on('message', (reply: EditReply) => {
        if (reply.kind === 'unreadable') fail('refused', reply.message, reply.field)
        else if (reply.kind === 'preview') preview(reply.bytes, reply.size)
        else if (pictures.push(reply.bytes) === call.images) resolve({ size: reply.size, pictures })
      })
      worker.on('error', (error) => fail('failed', String(error)))
      worker.on('exit', (code) => fail('failed', `the demo model's thread ended with ${code}`))
    })
  } finally {
    clearTimeout(late)
    await worker.terminate()
  }
}

type FailureWords = readonly [kind: 'refused' | 'failed' | 'timedOut', message: string, param?: string]

function failureOf({ deployment }: ImageCall, ...[kind, message, param]: FailureWords): UpstreamFailure {
  return new UpstreamFailure(kind, message, { deployment: deployment.id, charge: 'none', param })
}
