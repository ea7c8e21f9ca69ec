/** Asks the worker for what takes all pixels of a picture. It is started when it is first needed. */
import type { PixelAnswers, PixelTask } from '../../workers/pixels.worker.ts'
import { Mask } from '../../workers/pixels/mask.ts'

type Waiting = { readonly resolve: (answer: never) => void; readonly reject: (error: Error) => void }

let worker: Worker | undefined
let lastId = 0
const waiting = new Map<number, Waiting>()

function ask<Kind extends PixelTask['kind']>(
  task: Extract<PixelTask, { kind: Kind }>,
): Promise<PixelAnswers[Kind]> {
  worker ??= started()
  lastId += 1
  const id = lastId
  const { promise, resolve, reject } = Promise.withResolvers<PixelAnswers[Kind]>()
  waiting.set(id, { resolve, reject })
  worker.postMessage({ id, task })
  return promise
}

function started(): Worker {
  const made = new Worker(new URL('../../workers/pixels.worker.ts', import.meta.url), { type: 'module' })
  made.addEventListener(
    'message',
    ({ data }: MessageEvent<{ id: number; answer?: never; error?: string }>) => {
      const one = waiting.get(data.id)
      waiting.delete(data.id)
      if (data.error === undefined) one?.resolve(data.answer as never)
      else one?.reject(new Error(data.error))
    },
  )
  return made
}

const wordsOf = ({ width, height, words }: Mask) => ({ width, height, words })

/** As upstreams want it. The words are copied: painting may go on. */
export function maskFile(mask: Mask): Promise<Blob> {
  return ask({ kind: 'mask-png', mask: wordsOf(mask) })
}

export async function readMask(
  file: Blob,
): Promise<{ readonly mask: Mask; readonly hasTransparent: boolean }> {
  const { width, height, words, hasTransparent } = await ask({ kind: 'read-mask', file })
  return { mask: new Mask(width, height, words), hasTransparent }
}

export function comparePictures(
  before: Blob,
  after: Blob,
  mask: Mask | undefined,
  keep: boolean,
): Promise<PixelAnswers['compare']> {
  return ask({ kind: 'compare', before, after, mask: mask && wordsOf(mask), keep })
}
