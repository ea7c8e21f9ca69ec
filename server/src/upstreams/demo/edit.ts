/** Passes the images of an edit to a drawing thread, and returns the result. */
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import { workerModule } from '#package/files.ts'
import { ThreadBusy } from '#ports/asker.ts'
import type { EditCall, GivenBytes, GivenPicture, ImageCall } from '#ports/image-upstream.ts'
import { Thread, type ThreadLimits } from '#thread/thread.ts'
import { Turns } from '#thread/turns.ts'
import { wholeOf } from '../connect/exact-bytes.ts'
import type { DrawnEdit, DrawnPreview, EditWorks } from './edit-worker.ts'
import type { EditInput } from './given.ts'

/** Concurrent drawings: each takes a core, and some hundred megabytes for a large image. */
const MAX_AT_ONCE = 2
/** Waiting drawings of one project. At a second each, the last one waits half a minute. */
const MAX_WAITING = 64
/** Pixels are in buffers, which do not count. The largest drawings take some seconds each, and a request may want ten. */
const LIMITS: ThreadLimits = { memoryMb: 512, maxTaskMs: 600_000 }

type Preview = (preview: DrawnPreview) => void

export class DemoEdits {
  readonly #thread = new Thread<EditWorks>(workerModule('upstreams/demo/edit-worker'), LIMITS)
  readonly #turns = new Turns({ atOnce: MAX_AT_ONCE, maxWaiting: MAX_WAITING })

  async draw(call: ImageCall, edit: EditCall, preview: Preview): Promise<DrawnEdit> {
    const files = filesOf(call, edit)
    const endMs = performance.now() + call.timeoutMs
    const heard: Preview = (bytes) => performance.now() < endMs && preview(bytes)
    try {
      // A late drawing keeps its slot until the thread is done with it.
      return await this.#turns.run(call, () => this.#drawn(call, files, heard))
    } catch (error) {
      if (!(error instanceof ThreadBusy)) throw error
      throw error.kind === 'full'
        ? failureOf(call, 'rateLimited', 'the demo model has too much to do', { retryAfterMs: 1000 })
        : failureOf(call, 'timedOut', 'the demo model was not done in time')
    }
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

/** Refuses files that the demo model does not use. */
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
