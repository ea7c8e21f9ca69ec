/**
 * Images that are stored and still in memory, for the caller who waits for them: the answer is written
 * without reading the store. Their memory is bounded, and a slow client holds its share as long as it reads.
 * An image beyond the bound is read from the store.
 */
import type { FairShare, Holding } from '#core/schedule/fair-share.ts'
import type { MadePicture } from '#ports/image-upstream.ts'

export class PicturesAtHand implements Disposable {
  readonly #project: string
  readonly #room: FairShare
  readonly #pictures = new Map<string, { readonly picture: MadePicture; readonly place: Holding }>()

  constructor(project: string, room: FairShare) {
    this.#project = project
    this.#room = room
  }

  /** Takes ownership of the image. False when there is no memory left, or when the same image is already here. */
  take(sha256: string, picture: MadePicture): boolean {
    if (this.#pictures.has(sha256)) return false
    const place = this.#room.take(this.#project, picture.bytes.length)
    if (place === undefined) return false
    this.#pictures.set(sha256, { picture, place })
    return true
  }

  get(sha256: string): Uint8Array | undefined {
    return this.#pictures.get(sha256)?.picture.bytes
  }

  /** Frees the images once the answer is written. */
  [Symbol.dispose](): void {
    for (const { picture, place } of this.#pictures.values()) {
      picture.discard?.()
      place[Symbol.dispose]()
    }
    this.#pictures.clear()
  }
}
