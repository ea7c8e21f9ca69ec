/** Runs in a worker thread: processes every pixel of an edit. */
import sharp from 'sharp'
import type { PixelSize } from '#core/catalog/catalog.ts'
import { giveWay } from '#thread/give-way.ts'
import { serve, type ThreadCall } from '#thread/serve.ts'
import { captionOf } from './caption.ts'
import { Canvas } from './drawing.ts'
import { sceneOf, type EditScene } from './edit-scene.ts'
import { UnreadableInput, type EditInput } from './given.ts'

export interface EditTask extends EditScene {
  readonly images: number
  readonly previews: number
}

export interface DrawnPreview {
  readonly size: PixelSize
  readonly bytes: Uint8Array<ArrayBuffer>
}

export interface DrawnEdit {
  readonly size: PixelSize
  readonly pictures: readonly Uint8Array<ArrayBuffer>[]
}

interface RefusedEdit {
  readonly field: EditInput['field']
  readonly message: string
}

const COUNTED = ['no pictures', '1 picture']

async function drawn(task: EditTask, { tell, handOver }: ThreadCall<DrawnPreview>): Promise<DrawnEdit> {
  const scene = await sceneOf(task)
  const size = { width: scene.width, height: scene.height }
  const given = sumOf(task.inputs)
  const draw = (number: number, progress: number): Promise<Uint8Array<ArrayBuffer>> => {
    const canvas = new Canvas(size.width, size.height, [0, 0, 0, 0])
    scene.pixels.copy(canvas.pixels)
    const label = `demo-image ${number + 1} of ${task.images}, ${size.width}x${size.height}`
    const caption = captionOf({ prompt: task.prompt, notes: [`${given} - ${label}`, given], progress }, size)
    if (caption) canvas.lay(caption, { left: 0, top: size.height - caption.height })
    return encoded(canvas, task.isTransparent)
  }
  for (let index = 0; index < task.previews; index += 1) {
    const bytes = await draw(0, (index + 1) / (task.previews + 1))
    await tell({ size, bytes }, [bytes.buffer])
  }
  const pictures: Uint8Array<ArrayBuffer>[] = []
  for (let number = 0; number < task.images; number += 1) pictures.push(await draw(number, 1))
  handOver(pictures.map(({ buffer }) => buffer))
  return { size, pictures }
}

/** In words: how many images, and what lies over the first. */
function sumOf(inputs: readonly EditInput[]): string {
  const pictures = inputs.filter(({ field }) => field === 'image').length
  const overlays = inputs.flatMap(({ field }) => (field === 'image' ? [] : [field]))
  return [COUNTED[pictures] ?? `${pictures} pictures`, ...overlays].join(', ')
}

async function encoded(
  { pixels, width, height }: Canvas,
  isTransparent: boolean,
): Promise<Uint8Array<ArrayBuffer>> {
  const picture = sharp(pixels, { raw: { width, height, channels: 4 } })
  const made = (isTransparent ? picture : picture.removeAlpha()).png({
    compressionLevel: 6,
    adaptiveFiltering: true,
  })
  return new Uint8Array(await made.toBuffer())
}

const works = {
  async draw(task: EditTask, call: ThreadCall<DrawnPreview>): Promise<DrawnEdit | RefusedEdit> {
    try {
      return await drawn(task, call)
    } catch (error) {
      if (!(error instanceof UnreadableInput)) throw error
      return { field: error.field, message: error.message }
    }
  },
}

export type EditWorks = typeof works
giveWay()
serve(works)
