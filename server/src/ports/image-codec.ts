import type { ImageFormat } from '#core/catalog.ts'
import type { Asker } from './asker.ts'

/**
 * Makes one picture format of another, off the event loop. One frame, at most 50 megapixels and 16,384 pixels an edge: the
 * header has been checked before. Projects take turns. Rejects with `PictureUnreadable` when the bytes are not what their header says.
 */
export interface ImageCodec {
  /** `quality` is 0 to 100, for jpeg and webp; undefined: 100. Transparency becomes white where the format has none. */
  convert(
    bytes: Uint8Array<ArrayBuffer>,
    to: { readonly format: ImageFormat; readonly quality: number | undefined },
    asker: Asker,
  ): Promise<Uint8Array<ArrayBuffer>>
  /**
   * Makes a mask that marks by transparency into one that marks by colour: a grey PNG of the same size, of the given colour
   * exactly where the mask is fully transparent and of the other everywhere else. Rejects with `PictureUnreadable` also when no
   * pixel is fully transparent: such a mask marks nothing.
   */
  colourMask(
    bytes: Uint8Array<ArrayBuffer>,
    changed: 'white' | 'black',
    asker: Asker,
  ): Promise<Uint8Array<ArrayBuffer>>
}

/** Makes pictures small, for people who look at many. On the terms of `ImageCodec`. */
export interface ThumbnailMaker {
  /**
   * A WebP copy at most so many pixels wide and twice as high, and at most `THUMBNAIL_BYTES` long. A picture that is smaller
   * keeps its size.
   */
  thumbnail(bytes: Uint8Array<ArrayBuffer>, width: number, asker: Asker): Promise<Uint8Array<ArrayBuffer>>
}

/** A page with fifty of them stays below two megabytes. */
export const THUMBNAIL_BYTES = 40 * 1024

export class PictureUnreadable extends Error {
  override readonly name = 'PictureUnreadable'
}

/** As many conversions of this project wait as may, or one was not done in its time: nothing is wrong with the picture, and later it may go. */
export class CodecBusy extends Error {
  override readonly name = 'CodecBusy'
}
