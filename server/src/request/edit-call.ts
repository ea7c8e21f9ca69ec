/** What the calls of an edit are given: the files as they came, and the mask in the way that each deployment reads. */
import { Fault } from '#core/fault.ts'
import { givenIn, type Given, type GivenFile, type ImageEdit } from '#core/image/given.ts'
import type { ImageOffer } from '#core/image/negotiate.ts'
import { carriesUnknownFields } from '#core/offers.ts'
import { CodecBusy, PictureUnreadable, type ImageCodec } from '#ports/image-codec.ts'
import type { EditCall, GivenBytes, GivenPicture } from '#ports/image-upstream.ts'
import type { RequestFiles } from './request-files.ts'

/** Of a file that can't be streamed there are so many at once: itself, its base64, the body it stands in, and that as it is sent. */
const COPIES = 4

/** A while after which the codec may have less to do. */
const CODEC_WAIT_MS = 500

export interface EditInputsOutside {
  readonly codec: ImageCodec
  readonly wait: (ms: number) => Promise<unknown>
}

export class EditInputs {
  readonly #edit: ImageEdit
  readonly #files: RequestFiles
  readonly #outside: EditInputsOutside
  /** Made once, though several calls may need it. */
  readonly #colourMasks = new Map<'white' | 'black', Promise<Uint8Array<ArrayBuffer>>>()

  constructor(edit: ImageEdit, files: RequestFiles, outside: EditInputsOutside) {
    this.#edit = edit
    this.#files = files
    this.#outside = outside
  }

  /** What a call of this offer holds in memory: files are streamed only to wires of the OpenAI family. */
  bufferedBytes({ deployment, edit }: ImageOffer): number {
    const { mask } = this.#edit
    const buffered = carriesUnknownFields(deployment) ? 0 : COPIES * bytesIn(givenIn(this.#edit))
    const isTranslated = edit?.maskColour !== undefined && mask !== undefined
    return buffered + (isTranslated ? bytesIn([mask]) : 0)
  }

  /** `isResumed`: the upstream has the pictures already, and none is opened again. */
  async callFor({ edit }: ImageOffer, isResumed = false): Promise<EditCall | undefined> {
    if (edit === undefined) return undefined
    const { pictures, mask, markup } = this.#edit
    const isTranslated = edit.maskColour !== undefined && mask?.kind === 'file' && !isResumed
    return {
      pictures: pictures.map((given) => this.#given(given)),
      mask: isTranslated ? await this.#inColour(mask, edit.maskColour) : mask && this.#given(mask),
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

  async #inColour(mask: GivenFile, colour: 'white' | 'black'): Promise<GivenBytes> {
    let making = this.#colourMasks.get(colour)
    if (making === undefined) {
      making = this.#translated(mask, colour)
      this.#colourMasks.set(colour, making)
    }
    const bytes = await making
    return {
      kind: 'bytes',
      format: 'png',
      size: bytes.length,
      async *open() {
        yield bytes
      },
    }
  }

  async #translated(mask: GivenFile, colour: 'white' | 'black'): Promise<Uint8Array<ArrayBuffer>> {
    for (;;) {
      const bytes = new Uint8Array(mask.bytes)
      let filled = 0
      for await (const chunk of this.#files.open(mask.sha256)) {
        bytes.set(chunk, filled)
        filled += chunk.length
      }
      try {
        return await this.#outside.codec.colourMask(bytes, colour)
      } catch (cause) {
        if (cause instanceof PictureUnreadable)
          throw new Fault('invalid_image_file', `mask can't be used: it ${cause.message}.`, {
            param: 'mask',
            cause,
          })
        if (!(cause instanceof CodecBusy)) throw cause
        await this.#outside.wait(CODEC_WAIT_MS)
      }
    }
  }
}

function bytesIn(given: readonly Given[]): number {
  return given.reduce((sum, one) => sum + (one.kind === 'file' ? one.bytes : 0), 0)
}
