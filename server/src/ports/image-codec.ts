import type { ImageFormat } from '#core/catalog/catalog.ts'
import type { Asker } from './asker.ts'

/**
 * Converts images between formats, off the event loop. One frame, at most 50 megapixels and 16,384 pixels per edge: the
 * caller has checked the header. Projects take turns. Rejects with `PictureUnreadable` when the bytes are not what their
 * header says.
 */
export interface ImageCodec {
  /** `quality` is 0 to 100, for jpeg and webp; undefined: 100. Transparency becomes white where the format has none. */
  convert(
    bytes: Uint8Array<ArrayBuffer>,
    to: { readonly format: ImageFormat; readonly quality: number | undefined },
    asker: Asker,
  ): Promise<Uint8Array<ArrayBuffer>>
  /**
   * Converts a mask that marks by transparency into one that marks by colour: a grey PNG of the same size, in the given
   * colour exactly where the mask is fully transparent and in the other colour elsewhere. Rejects with `PictureUnreadable`
   * also when no pixel is fully transparent: such a mask marks nothing.
   */
  colourMask(
    bytes: Uint8Array<ArrayBuffer>,
    changed: 'white' | 'black',
    asker: Asker,
  ): Promise<Uint8Array<ArrayBuffer>>
}

/** Largest thumbnail: a page with fifty of them stays below two megabytes. */
export const THUMBNAIL_BYTES = 40 * 1024

export class PictureUnreadable extends Error {
  override readonly name = 'PictureUnreadable'
}

/**
 * The project's queue of conversions is full, or a conversion missed its deadline. Nothing is wrong with the image: a later
 * try may succeed.
 */
export class CodecBusy extends Error {
  override readonly name = 'CodecBusy'
}
