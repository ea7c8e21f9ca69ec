import { BoundedMap } from '../structure/bounded-map.ts'
import { checksum } from '../keys/key.ts'

/** Remembered spaces: far more than the models of one installation at the requested widths. */
const REMEMBERED_SPACES = 1000
const spaces = new BoundedMap<string, string>(REMEMBERED_SPACES)

/**
 * The identity of a model's own vector space, `<model>@<width>:<8 hex>`. Vectors may be compared only inside one space; a narrower
 * Matryoshka width is another space. The hex part is the generation: it changes when an operator accepts that the upstream's
 * vectors have changed.
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

/** The space of a model at one moment, at any width. */
export interface ModelSpace {
  readonly model: string
  /** Counts from 1: how often an admin has accepted another space of the model. */
  readonly generation: number
  /** The space that the configuration declares for this model and others. */
  readonly declared?: DeclaredSpace | undefined
}

export interface DeclaredSpace {
  readonly name: string
  /** From `joinGenerations`. */
  readonly generation: string
}

/**
 * The generation of a declared space: its models for which an admin has accepted another space, each with its generation. So the
 * name tells what each model must answer for the vectors to agree, whichever node wrote it and in whatever order admins accepted. Models
 * of generation 1 are left out: adding one to the space does not rename it.
 */
export function joinGenerations(models: Iterable<Pick<ModelSpace, 'model' | 'generation'>>): string {
  return Array.from(models)
    .filter(({ generation }) => generation > 1)
    .map(({ model, generation }) => `${model}#${generation}`)
    .sort()
    .join(' ')
}

/** The space that a model's answers are named by: the declared one, else its own. */
export function answeringSpace({ model, generation, declared }: ModelSpace, width: number): string {
  return declared === undefined ? spaceOf(model, width, generation) : declaredSpace(declared, width)
}

/** Its hex part is another one than that of a model of this name. */
export function declaredSpace({ name, generation }: DeclaredSpace, width: number): string {
  return named(name, width, `space ${name}@${width}#${generation}`)
}

export interface ReadSpace {
  /** A model, or the name of a declared space. */
  readonly owner: string
  readonly width: number
  /** The space of the float vectors, without the type. */
  readonly float: string
}

/** Behind the hex part: nothing for float, else the type and the scale by which it was made. Names of several types follow. */
const SPACE = /^((.+?)@(\d+):[0-9a-f]{8})(?:\/[a-z0-9]+(?::[a-z0-9]+)?)?(?:, .*)?$/

/** The parts of a space's id; of several, those of the first. Undefined when the text is none. */
export function readSpace(space: string): ReadSpace | undefined {
  const [, float, owner, width] = SPACE.exec(space) ?? []
  if (float === undefined || owner === undefined) return undefined
  return { owner, width: Number(width), float }
}

/** The own space of a reference's model. */
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
