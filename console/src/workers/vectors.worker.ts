/** Holds the vectors of one space away from the page, so that no arithmetic ever keeps it from answering a key. */
import { vectorsIn } from './vectors/answer.ts'
import { VectorSpace } from './vectors/vector-space.ts'
import type { Answering, Asking, Loaded, Square, SquareWish } from './vectors.ts'

let space: VectorSpace | undefined

onmessage = ({ data }: MessageEvent<Asking>) => {
  try {
    const answered = answerTo(data)
    say({ id: data.id, answered }, handedOver(answered))
  } catch (error) {
    say({ id: data.id, problem: error instanceof Error ? error.message : String(error) })
  }
}

function answerTo({ kind, asked }: Asking): unknown {
  if (kind === 'load') return load(asked)
  if (space === undefined) throw new Error('no vectors were loaded')
  switch (kind) {
    case 'view':
      return space.view(asked)
    case 'kept':
      return space.keptAt(asked)
    case 'prepare':
      return space.prepare(asked)
    case 'square':
      return squareOf(space, asked)
    case 'raw':
      return space.raw(asked)
    case 'lines':
      return space.lines(asked)
    case 'query': {
      const query = asked && vectorsIn(asked)
      space.ask(query)
      return query?.tokens ?? 0
    }
  }
}

function load(answer: ArrayBuffer): Loaded {
  const vectors = vectorsIn(answer)
  space = new VectorSpace(vectors)
  const { count, width, tokens } = vectors
  return { count, width, widths: space.widths, tokens }
}

function squareOf(of: VectorSpace, { at, by, groupOf, colours }: SquareWish): Square {
  const arranged = of.arrangedAt(at, by, groupOf)
  const count = arranged.order.length
  const canvas = new OffscreenCanvas(count, count)
  const pixels = new ImageData(of.pixelsAt(at, arranged, colours), count, count)
  canvas.getContext('2d')?.putImageData(pixels, 0, 0)
  return { ...arranged, picture: canvas.transferToImageBitmap() }
}

/** What can be handed over without a copy. */
function handedOver(answered: unknown): Transferable[] {
  if (typeof answered !== 'object' || answered === null) return []
  return Object.values(answered).flatMap((part): Transferable[] =>
    ArrayBuffer.isView(part) ? [part.buffer as ArrayBuffer] : part instanceof ImageBitmap ? [part] : [],
  )
}

function say(answering: Answering, transfer: Transferable[] = []): void {
  postMessage(answering, { transfer })
}
