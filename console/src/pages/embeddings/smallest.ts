/** Which type and width is the smallest that still finds what was asked for. Pure, with tests. */
import {
  bytesOf,
  VECTOR_TYPES,
  type KeptByType,
  type KeptShare,
  type VectorType,
} from '../../workers/vectors/types.ts'

export interface Measured {
  readonly type: VectorType
  readonly width: number
  /** In memory. */
  readonly bytes: number
  readonly kept: KeptShare
}

/** All types at all widths, widest first, without those that a width does not have. */
export function measuredOf(widths: readonly number[], kept: readonly KeptByType[]): Measured[] {
  return VECTOR_TYPES.flatMap((type) =>
    widths.flatMap((width, place) => {
      const share = kept[place]?.[type]
      return share === undefined ? [] : [{ type, width, bytes: bytesOf(type, width), kept: share }]
    }),
  )
}

export interface Smallest {
  /** In one step; undefined: nothing smaller than float at full width is enough. */
  readonly oneStep: Measured | undefined
  /** With rescoring, where that is smaller still. */
  readonly rescored: Measured | undefined
}

/** `wish`: the share of the ten nearest to keep, of 1. */
export function smallestOf(measured: readonly Measured[], wish: number): Smallest {
  const largest = Math.max(...measured.map(({ bytes }) => bytes))
  const enough = measured
    .filter(({ bytes, kept }) => bytes < largest && kept.mean >= wish)
    .toSorted((a, b) => a.bytes - b.bytes || b.kept.mean - a.kept.mean)
  const oneStep = enough.find(({ type }) => type !== 'rescored')
  const rescored = enough.find(({ type }) => type === 'rescored')
  return {
    oneStep,
    rescored: rescored && rescored.bytes < (oneStep?.bytes ?? largest) ? rescored : undefined,
  }
}
