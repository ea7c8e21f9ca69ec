/** Holds the vectors of one space outside of the page, which stays responsive during the arithmetic. */
import { serveTasks } from './serve-tasks.ts'
import { vectorsIn } from './vectors/answer.ts'
import { VectorSpace } from './vectors/vector-space.ts'
import type { HeatMapCells, HeatMapRequest, Loaded, VectorTasks } from './vectors.ts'

let space: VectorSpace | undefined

serveTasks<VectorTasks>({
  load,
  view: (at) => loaded().view(at),
  kept: (at) => loaded().keptAt(at),
  prepare: (at) => loaded().prepare(at),
  heatMap: (request) => heatMapOf(loaded(), request),
  types: (width) => loaded().keptByTypeAt(width),
  raw: (index) => loaded().raw(index),
  lines: (texts) => loaded().lines(texts),
  query(answer) {
    const query = answer && vectorsIn(answer)
    loaded().ask(query)
    return query?.tokens ?? 0
  },
})

function loaded(): VectorSpace {
  if (space === undefined) throw new Error('no vectors were loaded')
  return space
}

function load(answer: ArrayBuffer): Loaded {
  const vectors = vectorsIn(answer)
  space = new VectorSpace(vectors)
  const { count, width, tokens, tokensByKind } = vectors
  return { count, width, widths: space.widths, tokens, tokensByKind }
}

function heatMapOf(of: VectorSpace, { at, by, groupOf, colours }: HeatMapRequest): HeatMapCells {
  const arranged = of.arrangedAt(at, by, groupOf)
  const count = arranged.order.length
  const canvas = new OffscreenCanvas(count, count)
  const pixels = new ImageData(of.pixelsAt(at, arranged, colours), count, count)
  canvas.getContext('2d')?.putImageData(pixels, 0, 0)
  return { ...arranged, image: canvas.transferToImageBitmap() }
}
