/** Images that came with a request: their properties without looking at a pixel. */
import type { ImageFormat } from '../catalog/catalog.ts'

export interface GivenFile {
  readonly kind: 'file'
  /** Names its bytes among the files of the request. */
  readonly sha256: string
  readonly bytes: number
  readonly format: ImageFormat
  /** In pixels, as stored. */
  readonly width: number
  readonly height: number
  readonly hasAlpha: boolean
  /** Its metadata turns it by a quarter: then width and height are swapped. */
  readonly isTurned: boolean
}

/** An address that is passed on, for the upstream to fetch. */
export interface GivenAddress {
  readonly kind: 'address'
  readonly url: string
}

export type Given = GivenFile | GivenAddress

export interface GivenPictures {
  /** One at least, in the caller's order. */
  readonly pictures: readonly Given[]
  /** Marks what is to change in the first of them: it is fully transparent there. */
  readonly mask: Given | undefined
  /** A drawing on top of the first of them that says what to change. */
  readonly markup: Given | undefined
}

export interface ImageEdit extends GivenPictures {
  /** `input_fidelity`. */
  readonly fidelity: string | undefined
}

/** Everything that was given, in one list. */
export function givenIn({ pictures, mask, markup }: GivenPictures): Given[] {
  return [...pictures, ...(mask ? [mask] : []), ...(markup ? [markup] : [])]
}
