/**
 * Undo and redo of a mask. A step keeps the words of the rectangle that it changed, as they were before; to undo it, the two
 * are exchanged, and the same step then redoes it. What is kept is bounded in steps and in bytes; the oldest goes first.
 */
import { isEmpty, type Box, type Mask } from './mask.ts'

interface Step {
  readonly box: Box
  readonly words: Uint32Array<ArrayBuffer>
}

/** The steps that undo reaches back. */
const MAX_STEPS = 100
/** Fifty steps over all of a 48-megapixel image would be 300 MB; strokes are mostly a hundredth of it. */
const MAX_BYTES = 96 * 1024 * 1024

export class MaskHistory {
  readonly #mask: Mask
  readonly #mostBytes: number
  #undo: Step[] = []
  #redo: Step[] = []
  #before: Uint32Array<ArrayBuffer>
  #dropped = 0

  constructor(mask: Mask, mostBytes = MAX_BYTES) {
    this.#mask = mask
    this.#mostBytes = mostBytes
    this.#before = mask.words.slice()
  }

  /** A change is whole: what it touched is remembered as it was. */
  commit(touched: Box): void {
    if (isEmpty(touched)) return
    this.#undo.push({ box: touched, words: this.#taken(this.#before, touched) })
    this.#redo = []
    this.#copy(this.#mask.words, this.#before, touched)
    while (this.#undo.length > 1 && (this.#undo.length > MAX_STEPS || this.bytes > this.#mostBytes)) {
      this.#undo.shift()
      this.#dropped += 1
    }
  }

  /** What changed; undefined: there is nothing to undo. */
  undo(): Box | undefined {
    return this.#exchange(this.#undo, this.#redo)
  }

  redo(): Box | undefined {
    return this.#exchange(this.#redo, this.#undo)
  }

  get steps(): number {
    return this.#undo.length
  }

  get stepsAhead(): number {
    return this.#redo.length
  }

  /** Steps that were let go. */
  get dropped(): number {
    return this.#dropped
  }

  get bytes(): number {
    return [...this.#undo, ...this.#redo].reduce((sum, { words }) => sum + words.byteLength, 0)
  }

  #exchange(from: Step[], to: Step[]): Box | undefined {
    const step = from.pop()
    if (step === undefined) return undefined
    const now = this.#taken(this.#mask.words, step.box)
    this.#putBack(step)
    this.#copy(this.#mask.words, this.#before, step.box)
    to.push({ box: step.box, words: now })
    return step.box
  }

  #taken(words: Uint32Array, box: Box): Uint32Array<ArrayBuffer> {
    const { first, across, down } = this.#area(box)
    const taken = new Uint32Array(across * down)
    for (let row = 0; row < down; row += 1) {
      const at = first + row * this.#mask.stride
      taken.set(words.subarray(at, at + across), row * across)
    }
    return taken
  }

  #putBack({ box, words }: Step): void {
    const { first, across, down } = this.#area(box)
    for (let row = 0; row < down; row += 1)
      this.#mask.words.set(words.subarray(row * across, (row + 1) * across), first + row * this.#mask.stride)
  }

  #copy(from: Uint32Array, to: Uint32Array, box: Box): void {
    const { first, across, down } = this.#area(box)
    for (let row = 0; row < down; row += 1) {
      const at = first + row * this.#mask.stride
      to.set(from.subarray(at, at + across), at)
    }
  }

  /** In words of the mask. */
  #area({ left, top, right, bottom }: Box): { first: number; across: number; down: number } {
    const from = left >> 5
    return {
      first: top * this.#mask.stride + from,
      across: ((right - 1) >> 5) - from + 1,
      down: bottom - top,
    }
  }
}
