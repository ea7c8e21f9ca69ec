/** Runs in a worker thread, one for each edit: looks at every pixel, and takes its memory with it. */
import { parentPort, workerData } from 'node:worker_threads'
import sharp from 'sharp'
import type { ImageFormat, PixelSize } from '#core/catalog.ts'
import { captionOf } from './caption.ts'
import { Canvas } from './drawing.ts'
import { sceneOf } from './edit-scene.ts'
import { UnreadableInput } from './given.ts'

export interface EditInput {
  readonly field: 'image' | 'mask' | 'markup'
  /** From 1 on, among those of its field. */
  readonly number: number
  readonly format: ImageFormat
  readonly bytes: Uint8Array<ArrayBuffer>
}

export interface EditTask {
  /** Pictures in their order, and then the mask and the markup, where there are any. */
  readonly inputs: readonly EditInput[]
  readonly prompt: string
  readonly images: number
  readonly previews: number
  /** Undefined: that of the first picture. */
  readonly size: PixelSize | undefined
  readonly isTransparent: boolean
}

export type EditReply =
  | {
      readonly kind: 'preview' | 'picture'
      readonly size: PixelSize
      readonly bytes: Uint8Array<ArrayBuffer>
    }
  | { readonly kind: 'unreadable'; readonly field: EditInput['field']; readonly message: string }

const COUNTED = ['no pictures', '1 picture']

async function drawn(task: EditTask, send: (reply: EditReply) => void): Promise<void> {
  const scene = await sceneOf(task)
  const size = { width: scene.width, height: scene.height }
  const pictures = task.inputs.filter(({ field }) => field === 'image').length
  const overlays = task.inputs.flatMap(({ field }) => (field === 'image' ? [] : [field]))
  const given = [COUNTED[pictures] ?? `${pictures} pictures`, ...overlays].join(', ')
  const draw = async (kind: 'preview' | 'picture', number: number, progress: number): Promise<void> => {
    const canvas = new Canvas(size.width, size.height, [0, 0, 0, 0])
    scene.pixels.copy(canvas.pixels)
    const label = `demo-image ${number + 1} of ${task.images}, ${size.width}x${size.height}`
    const caption = captionOf({ prompt: task.prompt, notes: [`${given} - ${label}`, given], progress }, size)
    if (caption) canvas.lay(caption, { left: 0, top: size.height - caption.height })
    send({ kind, size, bytes: await encoded(canvas, task.isTransparent) })
  }
  for (let index = 0; index < task.previews; index += 1)
    await draw('preview', 0, (index + 1) / (task.previews + 1))
  for (let number = 0; number < task.images; number += 1) await draw('picture', number, 1)
}

async function encoded(
  { pixels, width, height }: Canvas,
  isTransparent: boolean,
): Promise<Uint8Array<ArrayBuffer>> {
  const picture = sharp(pixels, { raw: { width, height, channels: 4 } })
  const { data } = await (isTransparent ? picture : picture.removeAlpha())
    .png({ compressionLevel: 6, adaptiveFiltering: true })
    .toUint8Array()
  return data as Uint8Array<ArrayBuffer>
}

try {
  await drawn(workerData as EditTask, (reply) =>
    parentPort?.postMessage(reply, 'bytes' in reply ? [reply.bytes.buffer] : []),
  )
} catch (error) {
  if (!(error instanceof UnreadableInput)) throw error
  parentPort?.postMessage({
    kind: 'unreadable',
    field: error.field,
    message: error.message,
  } satisfies EditReply)
}
