/** Days of probes on a simulated clock: noisy deployments must keep serving, changed ones must be caught. */
import { bellOf } from '../image-drift/encoder.ts'
import { vectorOf } from '../../fake-provider/vectors.ts'
import { aDeployment } from '../../../server/test/support/deployments.ts'
import { seeded } from '../../../server/test/support/seeded.ts'
import { aModel } from '../../../server/test/support/models.ts'
import { MemoryAudit } from '../../../server/test/support/stores/audit.ts'
import { MemorySpaces } from '../../../server/test/support/stores/spaces.ts'
import type { Catalog, Deployment } from '../../../server/src/core/catalog/catalog.ts'
import { probeTokens } from '../../../server/src/core/embedding/probe-calls.ts'
import { PROBE_TEXTS, SHORT_INDEX } from '../../../server/src/core/embedding/probe-texts.ts'
import { meanOf } from '../../../server/src/core/embedding/space-check.ts'
import { SpaceGuard } from '../../../server/src/worker/spaces/guard.ts'

const MODEL = 'embed'
/** The shortest interval of the guard: a bad probe of a deployment in use is followed by another one after it. */
const STEP_MS = 5000
/** Of one call in each step: it pays for a probe of all texts every 80 seconds. */
const CALL_TOKENS = 3000

/** Values that share a scale. */
const BLOCK = 32

/** What a deployment makes of the right vector in one call. `random`: bell-shaped. */
export type Noise = (vector: Float32Array, random: () => number, call: CallNoise) => Float32Array

/** The same for all texts of a call. */
interface CallNoise {
  /** Between 0 and 1. */
  readonly share: number
}

export interface Day {
  readonly width: number
  readonly seed: number
  readonly hours: number
  /** The first deployment's answers make the reference. One more may follow. */
  readonly noises: readonly Noise[]
  /** The last deployment changes at half of the time. */
  readonly change?: Noise
}

export interface DayFigures {
  /** By the last deployment. */
  readonly quarantines: number
  readonly quarantinedShare: number
  /** While it was in use. */
  readonly probes: number
  readonly leastCosine: number
  /** Of these, from the change until it was caught, the last one included. Undefined: it was not. */
  readonly probesUntilCaught: number | undefined
}

/** Independent of the direction, so that the cosine is about this, and varies with the width as real noise does. */
export function noiseOf(cosine: number): Noise {
  const size = Math.sqrt(1 / cosine ** 2 - 1)
  return (vector, random) => {
    const scale = size / Math.sqrt(vector.length)
    return unit(vector.map((value) => value + scale * random()))
  }
}

/** The other inputs of a call decide it: all texts of the call are off by the same, at most this. */
export function padded(leastCosine: number): Noise {
  return (vector, random, { share }) => turned(vector, random, 1 - share * (1 - leastCosine))
}

/** Whole numbers of this many bits, scaled by the largest of each block of 32, as quantised servers have them. */
export function quantised(bits: number): Noise {
  const levels = 2 ** (bits - 1) - 1
  return (vector) => {
    const rounded = new Float32Array(vector.length)
    for (let start = 0; start < vector.length; start += BLOCK) {
      const block = vector.subarray(start, start + BLOCK)
      const step = block.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / levels
      rounded.set(
        block.map((value) => Math.round(value / step) * step),
        start,
      )
    }
    return rounded
  }
}

/** As servers do after everything else. */
export function normalised(noise: Noise): Noise {
  return (vector, random, call) => unit(noise(vector, random, call))
}

export const float16: Noise = (vector) => vector.map(Math.f16round)
export const exact: Noise = (vector) => vector

/** Another model near by: the same change of each text in every call. */
export function changedTo(cosine: number): Noise {
  return (vector) => {
    const random = bellOf(Math.round((vector[0] ?? 0) * 1e9))
    return turned(vector, random, cosine)
  }
}

export async function simulated({ width, seed, hours, noises, change }: Day): Promise<DayFigures> {
  const random = bellOf(seed)
  const even = seeded(seed)
  const startMs = Date.UTC(2026, 10, 20)
  const endMs = startMs + hours * 3_600_000
  const changeMs = change === undefined ? Infinity : startMs + (endMs - startMs) / 2 + even() * 900_000
  let nowMs = startMs
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs - startMs }
  const right = PROBE_TEXTS.map((text) => vectorOf(`${seed} ${text}`, width))
  const deployments = noises.map((_, index) =>
    aDeployment({ id: `${MODEL}/${index}`, priority: index, upstream: { name: `up-${index}` } }),
  )
  const last = deployments.at(-1) as Deployment
  const model = aModel({ id: MODEL, deployments, isGuarded: true, facts: { dimensions: width } })
  const catalog: Catalog = { models: new Map([[MODEL, model]]), retired: new Map(), projects: [] }
  const answer = (deployment: Deployment, vectors: readonly Float32Array[]): readonly Float32Array[] => {
    const noise = noises[deployments.indexOf(deployment)] ?? exact
    const call = { share: even() }
    const isChanged = deployment === last && nowMs >= changeMs && change !== undefined
    return vectors.map((vector) => noise(isChanged ? change(vector, random, call) : vector, random, call))
  }
  const short = right[SHORT_INDEX] as Float32Array
  let [quarantines, probes, probesSince, leastCosine] = [0, 0, 0, 1]
  const guard = new SpaceGuard({
    store: new MemorySpaces(new MemoryAudit(clock)),
    catalog: () => catalog,
    clock,
    isProber: async () => true,
    probe: async (_model, deployment, { samples, repeats, size }) => {
      const several = Array.from({ length: samples }, () => answer(deployment, right))
      const { mean, spread } = samples === 1 ? { mean: several[0] ?? [], spread: undefined } : meanOf(several)
      return {
        texts: mean,
        spread,
        repeats: Array.from({ length: repeats }, () => answer(deployment, [short])).flat(),
        sized: size && answer(deployment, right),
      }
    },
    probeInUse: async (_model, deployment, { size }) => {
      const [own = short] = answer(deployment, [short])
      const texts = size && answer(deployment, right)
      for (const [index, vector] of [own, ...(texts ?? [])].entries())
        leastCosine = Math.min(leastCosine, cosineOf(vector, index === 0 ? short : right[index - 1]!))
      probes += 1
      if (nowMs >= changeMs) probesSince += 1
      return { short: own, texts, tokens: size ? probeTokens(size) : 8 }
    },
    onStanding: () => {},
    onAlert: ({ kind, deployment }) => {
      if (kind === 'quarantined' && deployment === last.id && nowMs < changeMs) quarantines += 1
    },
    onTrouble: (error) => {
      throw error
    },
    random: () => 0.5,
  })
  await guard.follow()
  await guard.probeDue()
  let [steps, outside] = [0, 0]
  let probesUntilCaught: number | undefined
  for (; nowMs < endMs && probesUntilCaught === undefined; nowMs += STEP_MS) {
    steps += 1
    if (!guard.isOutside(model, last)) guard.noteCall(model, last, 1, CALL_TOKENS)
    await guard.probeDue()
    if (!guard.isOutside(model, last)) continue
    outside += 1
    if (nowMs >= changeMs) probesUntilCaught = probesSince
  }
  await guard.stop()
  return { quarantines, quarantinedShare: outside / steps, probes, leastCosine, probesUntilCaught }
}

/** A unit vector with this cosine to the given one. */
function turned(vector: Float32Array, random: () => number, cosine: number): Float32Array {
  const other = vector.map(random)
  const along = other.reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0)
  const across = unit(other.map((value, at) => value - along * (vector[at] ?? 0)))
  const sine = Math.sqrt(1 - cosine ** 2)
  return vector.map((value, at) => cosine * value + sine * (across[at] ?? 0))
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return vector.map((value) => value / length)
}

function cosineOf(one: Float32Array, other: Float32Array): number {
  const product = one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
  return product / (Math.hypot(...one) * Math.hypot(...other))
}
