import { checksum } from '../key.ts'

/**
 * The identity of a model's vector space, `<model>@<width>:<8 hex>`. Vectors may be compared only inside one space; a
 * narrower Matryoshka width is a space of its own. The hex part is the generation: it changes when an operator accepts
 * that the upstream's vectors have changed.
 */
export function spaceOf(model: string, width: number, generation = 1): string {
  return `${model}@${width}:${checksum(`${model}@${width}#${generation}`)}`
}

/** The space that a reference stands for. */
export function spaceIn(reference: {
  readonly model: string
  readonly width: number
  readonly generation: number
}): string {
  return spaceOf(reference.model, reference.width, reference.generation)
}
