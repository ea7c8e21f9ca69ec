/** Work on all pixels of an image, in a worker that starts when it is first needed. */
import { Mask } from './pixels/mask.ts'
import type { Compared, PixelTasks } from './pixels.worker.ts'
import { WorkerClient } from './worker-client.ts'

let client: WorkerClient<PixelTasks> | undefined

function pixelWorker(): WorkerClient<PixelTasks> {
  if (client === undefined || client.isClosed)
    client = new WorkerClient(new Worker(new URL('./pixels.worker.ts', import.meta.url), { type: 'module' }))
  return client
}

/** For the page that leaves: work in progress is dropped. */
export function closePixelWorker(): void {
  client?.close()
}

const wordsOf = ({ width, height, words }: Mask) => ({ width, height, words })

/** The mask as upstreams expect it. Its words are copied: painting may continue. */
export function maskFile(mask: Mask): Promise<Blob> {
  return pixelWorker().request('maskPng', wordsOf(mask))
}

export async function readMask(
  file: Blob,
): Promise<{ readonly mask: Mask; readonly hasTransparent: boolean }> {
  const { width, height, words, hasTransparent } = await pixelWorker().request('readMask', file)
  return { mask: new Mask(width, height, words), hasTransparent }
}

export function compareImages(
  before: Blob,
  after: Blob,
  mask: Mask | undefined,
  keep: boolean,
): Promise<Compared> {
  return pixelWorker().request('compare', { before, after, mask: mask && wordsOf(mask), keep })
}
