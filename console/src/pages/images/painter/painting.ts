/** An image with its mask while it is painted. Strokes go straight into the mask; React is notified when they end. */
import { isEmpty, Mask, NO_BOX, union, type Box } from '../../../workers/pixels/mask.ts'
import { MaskHistory } from '../../../workers/pixels/mask-history.ts'
import { paintCapsule, paintPolygon, paintRectangle, type Point } from '../../../workers/pixels/shapes.ts'
import type { Size } from '../sizes.ts'

export type Tool = 'brush' | 'eraser' | 'rectangle' | 'lasso'

export interface Brush {
  readonly tool: Tool
  /** In pixels of the image. */
  readonly diameter: number
}

export const MIN_DIAMETER = 4
export const MAX_DIAMETER = 512

export class Painting {
  readonly mask: Mask
  readonly #history: MaskHistory
  readonly #listeners = new Set<() => void>()
  /** What changed on the screen since it was last drawn. */
  readonly #dirty = new Set<(box: Box) => void>()
  #touched: Box = NO_BOX
  #painted = 0
  #version = 0

  constructor({ width, height }: Size) {
    this.mask = new Mask(width, height)
    this.#history = new MaskHistory(this.mask)
  }

  get size(): Size {
    return this.mask
  }

  /** Pixels, when the last stroke ended. */
  get painted(): number {
    return this.#painted
  }

  get isBlank(): boolean {
    return this.#painted === 0
  }

  get history(): Pick<MaskHistory, 'steps' | 'stepsAhead' | 'dropped' | 'bytes'> {
    return this.#history
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly version = (): number => this.#version

  onDirty(listener: (box: Box) => void): () => void {
    this.#dirty.add(listener)
    return () => this.#dirty.delete(listener)
  }

  /** A part of a stroke, with the pressure of a pen at both ends. */
  stroke(
    from: Point,
    to: Point,
    radii: { readonly from: number; readonly to: number },
    isPainted: boolean,
  ): void {
    this.#touch(paintCapsule(this.mask, from, to, { fromRadius: radii.from, toRadius: radii.to, isPainted }))
  }

  rectangle(box: Box, isPainted: boolean): void {
    this.#touch(paintRectangle(this.mask, box, isPainted))
    this.end()
  }

  lasso(points: readonly Point[], isPainted: boolean): void {
    if (points.length > 2) this.#touch(paintPolygon(this.mask, points, isPainted))
    this.end()
  }

  invert(): void {
    this.mask.invert()
    this.#touch(this.mask.box)
    this.end()
  }

  clear(): void {
    this.rectangle(this.mask.box, false)
  }

  /** A mask of the same size takes the place of this one. */
  load(mask: Mask): void {
    this.mask.words.set(mask.words)
    this.#touch(this.mask.box)
    this.end()
  }

  /** The stroke is whole: it can be undone. */
  end(): void {
    if (isEmpty(this.#touched)) return
    this.#history.commit(this.#touched)
    this.#touched = NO_BOX
    this.#notify()
  }

  undo(): void {
    this.#changed(this.#history.undo())
  }

  redo(): void {
    this.#changed(this.#history.redo())
  }

  #changed(box: Box | undefined): void {
    if (box === undefined) return
    for (const listener of this.#dirty) listener(box)
    this.#notify()
  }

  #touch(box: Box): void {
    this.#touched = union(this.#touched, box)
    for (const listener of this.#dirty) listener(box)
  }

  #notify(): void {
    this.#painted = this.mask.count()
    this.#version += 1
    for (const listener of this.#listeners) listener()
  }
}
