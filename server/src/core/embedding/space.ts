import { BoundedMap } from '../structure/bounded-map.ts'
import { checksum } from '../keys/key.ts'

/** Remembered spaces: far more than the models of one installation at the requested widths. */
const REMEMBERED_SPACES = 1000
const spaces = new BoundedMap<string, string>(REMEMBERED_SPACES)

/**
 * The identity of a model's vector space, `<model or family>@<width>:<8 hex>`. Vectors may be compared only inside one space; a
 * narrower Matryoshka width is another space. The hex part is the generation: it changes when an operator accepts that the
 * upstream's vectors have changed.
 */
export function spaceOf(model: string, width: number, generation = 1): string {
  return named(model, width, `${model}@${width}#${generation}`)
}

function named(owner: string, width: number, name: string): string {
  const known = spaces.get(name)
  if (known !== undefined) return known
  const space = `${owner}@${width}:${checksum(name)}`
  spaces.set(name, space)
  return space
}

/** A family whose space a model has joined. */
export interface JoinedFamily {
  readonly name: string
  /** Counts from 1: how often the family has begun another space. */
  readonly generation: number
}

/** The space in which a model answers: that of its family while it has joined one, else its own. */
export function answeringSpace(
  model: string,
  width: number,
  generation: number,
  family: JoinedFamily | undefined,
): string {
  if (family === undefined) return spaceOf(model, width, generation)
  // Another hex part than that of a model of this name.
  return named(family.name, width, `family ${family.name}@${width}#${family.generation}`)
}

export interface ReadSpace {
  /** A model or a family. */
  readonly model: string
  readonly width: number
  /** The space of the float vectors, without the type. */
  readonly float: string
  /** The calibration of an int8 or uint8 space. */
  readonly calibration: string | undefined
}

/** Behind the hex part: nothing for float, else the type and the scale by which it was made. Names of several types follow. */
const SPACE = /^((.+?)@(\d+):[0-9a-f]{8})(?:\/[a-z0-9]+(?::(?:cal-([0-9a-f]{8})|[a-z0-9]+))?)?(?:, .*)?$/

/** The parts of a space's id; of several, those of the first. Undefined when the text is none. */
export function readSpace(space: string): ReadSpace | undefined {
  const [, float, model, width, calibration] = SPACE.exec(space) ?? []
  if (float === undefined || model === undefined) return undefined
  return { model, width: Number(width), float, calibration }
}

/** The space of a reference. */
export function spaceIn(reference: {
  readonly model: string
  readonly width: number
  readonly generation: number
}): string {
  return spaceOf(reference.model, reference.width, reference.generation)
}

/** The space of results, or null if they have none or more than one. */
export function onlySpace(of: readonly string[]): string | null {
  return (of.length === 1 && of[0]) || null
}
