/** Models made of the vectors of a real one: true members of its family, and strangers. */
import { dot, meanOf, plus, Rotation, unit, type Chance, type Vectors } from './vectors.ts'

export interface Corpus {
  readonly texts: readonly string[]
  /** By the demo model. */
  readonly vectors: Vectors
}

/** One way in which a model differs from the first of its family, at a level drawn by chance. */
export interface Difference {
  readonly name: string
  readonly make: (family: Vectors, chance: Chance, corpus: Corpus) => Vectors
}

/**
 * A model that differs from others in its axes, in what all texts have in common, and in how much of its vectors the first
 * dimensions hold: half of the families are such as can be truncated.
 */
export function familyOf(corpus: Corpus, chance: Chance): Vectors {
  const width = corpus.vectors[0]?.length ?? 0
  const rotation = new Rotation(width, chance)
  const mean = meanOf(corpus.vectors)
  const common = chance.between(-0.9, 0.6)
  const decay = chance.next() < 0.5 ? 0 : chance.between(0.2, 0.6)
  return corpus.vectors.map((vector) => {
    const turned = rotation.of(unit(plus(vector, mean, common)))
    return unit(turned.map((value, at) => value * (at + 1) ** -decay))
  })
}

const noise = (family: Vectors, chance: Chance, low: number, high: number): Vectors => {
  const cosine = chance.between(low, high)
  const sine = Math.sqrt(1 - cosine ** 2)
  return family.map((vector) => {
    const random = Float32Array.from(vector, () => chance.bell())
    const across = unit(plus(random, vector, -dot(random, vector)))
    return plus(
      vector.map((value) => value * cosine),
      across,
      sine,
    )
  })
}

const rotated = (family: Vectors, chance: Chance, low: number, high: number): Vectors => {
  const rotation = new Rotation(family[0]?.length ?? 0, chance)
  const degrees = chance.between(low, high)
  return family.map((vector) => rotation.by(degrees, vector))
}

const quantised =
  (levels: number) =>
  (family: Vectors): Vectors =>
    family.map((vector) => {
      const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
      return unit(vector.map((value) => Math.round((value / largest) * levels) / levels))
    })

const binary = (family: Vectors): Vectors =>
  family.map((vector) => unit(vector.map((value) => (value > 0 ? 1 : -1))))

/** Errors that depend on what a text says, as a smaller model makes them: each of some directions is weakened, and read as another. */
const weaker = (family: Vectors, chance: Chance): Vectors => {
  const rotation = new Rotation(family[0]?.length ?? 0, chance)
  const [lost, mixed] = [chance.between(0.1, 0.5), chance.between(0, 0.3)]
  const weights = Float32Array.from(family[0]!, () => (chance.next() < lost ? chance.between(0, 0.5) : 1))
  return family.map((vector) => {
    const turned = rotation.of(vector)
    return unit(
      rotation.back(
        turned.map(
          (value, at) => value * weights[at]! + mixed * (turned[at ^ 1] as number) * weights[at ^ 2]!,
        ),
      ),
    )
  })
}

const cut = (family: Vectors, chance: Chance): Vectors => {
  const width = chance.pick([128, 256])
  return noise(
    family.map((vector) => unit(vector.slice(0, width))),
    chance,
    0.85,
    0.99,
  )
}

export const MEMBERS: readonly Difference[] = [
  { name: 'noise', make: (family, chance) => noise(family, chance, 0.6, 0.999) },
  { name: 'small rotation', make: (family, chance) => rotated(family, chance, 1, 45) },
  { name: 'int8', make: quantised(127) },
  { name: 'int4', make: quantised(7) },
  { name: 'binary', make: binary },
  { name: 'truncated', make: cut },
  { name: 'weaker model', make: weaker },
]

/** Vectors of another model with neighbourhoods of its own: words and parts of words by their hash. */
function byWords({ texts }: Corpus, width: number): Vectors {
  return texts.map((text) => {
    const vector = new Float32Array(width)
    for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['?'])
      for (const part of [
        word,
        ...Array.from({ length: Math.max(0, word.length - 2) }, (_, at) => word.slice(at, at + 3)),
      ]) {
        let hash = 2_166_136_261
        for (let at = 0; at < part.length; at += 1) hash = Math.imul(hash ^ part.charCodeAt(at), 16_777_619)
        hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
        hash ^= hash >>> 12
        vector[(hash >>> 0) % width]! += hash & 0x40000000 ? 1 : -1
      }
    return unit(vector.map((value) => value + 1e-6))
  })
}

const sharing = (family: Vectors, chance: Chance): Vectors => {
  const width = family[0]?.length ?? 0
  const rotation = new Rotation(width, chance)
  const shared = width * chance.pick([0.125, 0.25, 0.375])
  return family.map((vector) => {
    const turned = rotation.of(vector)
    return unit(vector.map((value, at) => (at < shared ? value : turned[at]!)))
  })
}

export const STRANGERS: readonly Difference[] = [
  { name: 'full rotation', make: (family, chance) => rotated(family, chance, 90, 90) },
  { name: 'large rotation', make: (family, chance) => rotated(family, chance, 60, 85) },
  { name: 'too noisy', make: (family, chance) => noise(family, chance, 0.05, 0.5) },
  {
    name: 'permuted',
    make: (family, chance) => {
      const order = [...family[0]!.keys()]
        .map((at) => [chance.next(), at] as const)
        .toSorted(([one], [other]) => one - other)
      return family.map((vector) => Float32Array.from(order, ([, at]) => vector[at]!))
    },
  },
  {
    name: 'signs flipped',
    make: (family, chance) => {
      const signs = Float32Array.from(family[0]!, () => (chance.next() < 0.5 ? -1 : 1))
      return family.map((vector) => vector.map((value, at) => value * signs[at]!))
    },
  },
  { name: 'negated', make: (family) => family.map((vector) => vector.map((value) => -value)) },
  { name: 'first dimensions alone', make: sharing },
  { name: 'another model', make: (family, _, corpus) => byWords(corpus, family[0]?.length ?? 0) },
  { name: 'another family', make: (_, chance, corpus) => familyOf(corpus, chance) },
]

/** A difference that the measure judges less sharply. It is printed, and neither class claims it. */
export const UNCERTAIN: Difference = {
  name: 'shifted by a constant',
  make: (family, chance) => {
    const shift = unit(Float32Array.from(family[0]!, () => chance.bell()))
    const share = chance.between(1, 3)
    return family.map((vector) => unit(plus(vector, shift, share)))
  },
}
