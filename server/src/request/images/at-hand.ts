/**
 * Pictures that are stored and still in memory, for the caller who waits for them: the answer is written without reading the
 * store. They have room up to a bound, which a client that reads slowly takes for as long as it reads. What finds no room is
 * read from the store.
 */
import type { FairShare, Holding } from '#core/fair-share.ts'
import type { MadePicture } from '#ports/image-upstream.ts'

export class PicturesAtHand implements Disposable {
  readonly #project: string
  readonly #room: FairShare
  readonly #pictures = new Map<string, { readonly picture: MadePicture; readonly place: Holding }>()

  constructor(project: string, room: FairShare) {
    this.#project = project
    this.#room = room
  }

  /** Takes it over. False: there is no room, or the same picture is here already. */
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

  /** Nobody reads them any more. */
  [Symbol.dispose](): void {
    for (const { picture, place } of this.#pictures.values()) {
      picture.discard?.()
      place[Symbol.dispose]()
    }
    this.#pictures.clear()
  }
}
