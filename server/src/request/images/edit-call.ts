/** The inputs of an edit's calls: the files as they came, and the mask in the form that each deployment reads. */
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { givenIn, type Given, type GivenFile, type ImageEdit } from '#core/image/given.ts'
import type { ImageOffer } from '#core/image/negotiate.ts'
import { carriesUnknownFields } from '#core/request/offers.ts'
import { CodecBusy, PictureUnreadable, type ImageCodec } from '#ports/image-codec.ts'
import type { EditCall, GivenBytes, GivenPicture } from '#ports/image-upstream.ts'
import { whenCodecIsFree, type CodecClock } from './codec-wait.ts'
import type { RequestFiles } from './files.ts'

/** Copies in memory of a file that can't be streamed: the file, its base64, the body around it, and the body as sent. */
const COPIES = 4

export interface EditInputsOutside extends CodecClock {
  readonly codec: ImageCodec
}

export class EditInputs {
  readonly #edit: ImageEdit
  readonly #files: RequestFiles
  readonly #project: string
  readonly #outside: EditInputsOutside
  /** A mask is made once, also when several calls need it. */
  readonly #colourMasks = new Map<'white' | 'black', Promise<Uint8Array<ArrayBuffer>>>()

  constructor(edit: ImageEdit, files: RequestFiles, project: string, outside: EditInputsOutside) {
    this.#edit = edit
    this.#files = files
    this.#project = project
    this.#outside = outside
  }

  /** How many bytes a call of this offer holds in memory. Files are streamed only to wires of the OpenAI family. */
  bufferedBytes({ deployment, edit }: ImageOffer): number {
    const { mask } = this.#edit
    const buffered = carriesUnknownFields(deployment) ? 0 : COPIES * bytesIn(givenIn(this.#edit))
    const isTranslated = edit?.maskColour !== undefined && mask !== undefined
    return buffered + (isTranslated ? bytesIn([mask]) : 0)
  }

  /** `isResumed`: the upstream already has the images, and none is opened again. */
  async callFor(offer: ImageOffer, deadlineMs: number, isResumed = false): Promise<EditCall | undefined> {
    const { edit } = offer
    if (edit === undefined) return undefined
    const { pictures, mask, markup } = this.#edit
    const isTranslated = edit.maskColour !== undefined && mask?.kind === 'file' && !isResumed
    return {
      pictures: pictures.map((given) => this.#given(given)),
      mask: isTranslated
        ? await this.#inColour(mask, edit.maskColour, offer, deadlineMs)
        : mask && this.#given(mask),
      markup: markup && this.#given(markup),
      fidelity: edit.fidelity,
      body: edit.body,
    }
  }

  #given(given: Given): GivenPicture {
    if (given.kind === 'address') return given
    const { sha256, bytes, format } = given
    return { kind: 'bytes', format, size: bytes, open: () => this.#files.open(sha256) }
  }

  async #inColour(
    mask: GivenFile,
    colour: 'white' | 'black',
    { deployment }: ImageOffer,
    deadlineMs: number,
  ): Promise<GivenBytes> {
    let making = this.#colourMasks.get(colour)
    if (making === undefined) {
      making = this.#translated(mask, colour, deadlineMs)
      this.#colourMasks.set(colour, making)
    }
    try {
      const bytes = await making
      return { kind: 'bytes', format: 'png', size: bytes.length, open: () => whole(bytes) }
    } catch (cause) {
      if (!(cause instanceof CodecBusy)) throw cause
      const failure = new UpstreamFailure('timedOut', 'there was no time left to convert the mask', {
        deployment: deployment.id,
        charge: 'none',
      })
      failure.cause = cause
      throw failure
    }
  }

  async #translated(
    mask: GivenFile,
    colour: 'white' | 'black',
    deadlineMs: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(mask.bytes)
    let filled = 0
    for await (const chunk of this.#files.open(mask.sha256)) {
      bytes.set(chunk, filled)
      filled += chunk.length
    }
    try {
      const { codec } = this.#outside
      const asked = { project: this.#project, deadlineMs }
      return await whenCodecIsFree((asker) => codec.colourMask(bytes, colour, asker), asked, this.#outside)
    } catch (cause) {
      if (!(cause instanceof PictureUnreadable)) throw cause
      throw new Fault('invalid_image_file', `mask cannot be used: it ${cause.message}.`, {
        param: 'mask',
        cause,
      })
    }
  }
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function bytesIn(given: readonly Given[]): number {
  return given.reduce((sum, one) => sum + (one.kind === 'file' ? one.bytes : 0), 0)
}
