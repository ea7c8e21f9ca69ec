/** Prepares the images of an edit for the thread: those that would not reach the wire are refused, the others are read. */
import type { ImageFormat } from '#core/catalog/catalog.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { EditCall, GivenPicture, ImageCall } from '#ports/image-upstream.ts'
import { wholeOf } from '../connect/exact-bytes.ts'
import { providerOf } from './image-providers.ts'

/** A call with its images in memory: functions can't cross to a thread. */
export interface LoadedCall extends Omit<ImageCall, 'edit'> {
  readonly edit: LoadedEdit | undefined
}

export interface LoadedEdit {
  readonly pictures: readonly LoadedPicture[]
  readonly mask: LoadedPicture | undefined
}

export type LoadedPicture = LoadedBytes | Extract<GivenPicture, { kind: 'address' }>

interface LoadedBytes {
  readonly kind: 'bytes'
  readonly format: ImageFormat
  /** Has a separate buffer, so that it can be transferred. */
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** A call that was already submitted continues without its images: they were sent, and may be gone. */
export async function loaded({ edit, ...call }: ImageCall): Promise<LoadedCall> {
  if (edit === undefined || call.submitted !== undefined) return { ...call, edit: undefined }
  refuseUnsent(call, edit)
  const startedMs = performance.now()
  const pictures: LoadedPicture[] = []
  for (const picture of edit.pictures) pictures.push(await loadedPicture(call, picture))
  const mask = edit.mask && (await loadedPicture(call, edit.mask))
  const timeoutMs = call.timeoutMs - (performance.now() - startedMs)
  if (timeoutMs > 0) return { ...call, timeoutMs, edit: { pictures, mask } }
  const message = 'the files of the request could not be read in time'
  throw new UpstreamFailure('timedOut', message, { deployment: call.deployment.id, charge: 'none' })
}

/** Buffers that are transferred to another thread without a copy. */
export function buffersOf(edit: LoadedEdit | undefined): ArrayBuffer[] {
  const all = edit === undefined ? [] : [...edit.pictures, ...(edit.mask ? [edit.mask] : [])]
  return all.flatMap((picture) => (picture.kind === 'bytes' ? [picture.bytes.buffer] : []))
}

type Call = Omit<ImageCall, 'edit'>

function refuseUnsent(call: Call, { pictures, mask, markup, fidelity }: EditCall): void {
  const { deployment } = call
  const { edits } = providerOf(deployment)
  const refuse = (message: string, param: string): never => {
    throw new UpstreamFailure('refused', message, { deployment: deployment.id, param, charge: 'none' })
  }
  if (markup !== undefined) refuse('this wire knows no markup', 'markup')
  if (fidelity !== undefined) refuse('this wire knows no input_fidelity', 'input_fidelity')
  if (mask !== undefined && edits.mask?.(deployment) !== true) refuse('a mask can not be sent here', 'mask')
  const most = edits.maxInputs(deployment, mask !== undefined)
  if (pictures.length > most) {
    const beside = mask === undefined ? '' : ' beside a mask'
    refuse(`${pictures.length} pictures can not be sent here, ${most}${beside} can`, 'image')
  }
  const refuseForm = ({ kind }: GivenPicture, param: string): void => {
    if (!edits.takes.includes(kind))
      refuse(`a picture can not be sent here ${kind === 'bytes' ? 'as a file' : 'by its address'}`, param)
  }
  for (const picture of pictures) refuseForm(picture, 'image')
  if (mask !== undefined) refuseForm(mask, 'mask')
}

async function loadedPicture({ deployment }: Call, picture: GivenPicture): Promise<LoadedPicture> {
  if (picture.kind === 'address') return picture
  const { kind, format } = picture
  return { kind, format, bytes: await wholeOf(picture, deployment.id) }
}
