/** Hands the pictures of an edit to a thread that draws them, and brings back what it drew. */
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import { Semaphore } from '#core/semaphore.ts'
import type { EditCall, GivenBytes, GivenPicture, ImageCall } from '#ports/image-upstream.ts'
import { inTime, Thread, type ThreadLimits } from '#thread/thread.ts'
import { wholeOf } from '../connect/exact-bytes.ts'
import type { DrawnEdit, DrawnPreview, EditWorks } from './edit-worker.ts'
import type { EditInput } from './given.ts'

/** Each takes a core, and some hundred megabytes for a large picture. */
const MAX_AT_ONCE = 2
/** At a second each, the last of so many is half a minute away. */
const MAX_WAITING = 64
/** Pixels are in buffers, which are not counted. The largest drawings take some seconds each, and a request may want ten. */
const LIMITS: ThreadLimits = { memoryMb: 512, maxTaskMs: 600_000 }

type Preview = (preview: DrawnPreview) => void

export class DemoEdits {
  readonly #thread = new Thread<EditWorks>(new URL('./edit-worker.ts', import.meta.url), LIMITS)
  readonly #places = new Semaphore(MAX_AT_ONCE)

  async draw(call: ImageCall, edit: EditCall, preview: Preview): Promise<DrawnEdit> {
    const files = filesOf(call, edit)
    if (this.#places.waiting >= MAX_WAITING)
      throw failureOf(call, 'rateLimited', 'the demo model has too much to do', { retryAfterMs: 1000 })
    const late = (): UpstreamFailure => failureOf(call, 'timedOut', 'the demo model was not done in time')
    const endMs = performance.now() + call.timeoutMs
    // A drawing that is late keeps its place until the thread is done with it.
    const drawn = this.#places.run(async () => {
      if (performance.now() >= endMs) throw late()
      return this.#drawn(call, files, (bytes) => performance.now() < endMs && preview(bytes))
    })
    return inTime(drawn, call.timeoutMs, late)
  }

  async #drawn(call: ImageCall, files: readonly GivenFile[], preview: Preview): Promise<DrawnEdit> {
    const inputs: EditInput[] = []
    for (const { picture, ...rest } of files)
      inputs.push({ ...rest, format: picture.format, bytes: await wholeOf(picture, call.deployment.id) })
    const { prompt, images, size, partialImages: previews = 0, background } = call
    const task = { inputs, prompt, images, size, previews, isTransparent: background === 'transparent' }
    const transfer = inputs.map(({ bytes }) => bytes.buffer)
    const answer = await this.#thread.ask('draw', task, { transfer, hear: preview }).catch((error: Error) => {
      throw failureOf(call, 'failed', error.message)
    })
    if ('pictures' in answer) return answer
    throw failureOf(call, 'refused', answer.message, { param: answer.field })
  }
}

interface GivenFile<Picture = GivenBytes> extends Pick<EditInput, 'field' | 'number'> {
  readonly picture: Picture
}

/** What the demo model has no use for is refused. */
function filesOf(call: ImageCall, { pictures, mask, markup, fidelity }: EditCall): readonly GivenFile[] {
  const refused = (message: string, param: string): UpstreamFailure =>
    failureOf(call, 'refused', message, { param })
  if (fidelity !== undefined) throw refused('the demo model knows no input_fidelity', 'input_fidelity')
  const given: GivenFile<GivenPicture>[] = [
    ...pictures.map((picture, index) => ({ picture, field: 'image' as const, number: index + 1 })),
    ...(mask ? [{ picture: mask, field: 'mask' as const, number: 1 }] : []),
    ...(markup ? [{ picture: markup, field: 'markup' as const, number: 1 }] : []),
  ]
  return given.map(({ picture, field, number }) => {
    if (picture.kind === 'bytes') return { picture, field, number }
    throw refused(`the demo model takes files alone, and ${field} is an address`, field)
  })
}

function failureOf(
  { deployment }: ImageCall,
  kind: FailureKind,
  message: string,
  detail: { readonly param?: string; readonly retryAfterMs?: number } = {},
): UpstreamFailure {
  return new UpstreamFailure(kind, message, { deployment: deployment.id, charge: 'none', ...detail })
}
