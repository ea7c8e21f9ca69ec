/** Fields that Torana does not know are passed on as they came, unless they can't be, or would have a hidden cost. */
import { isRecord } from '../text/record.ts'

/** Deepest nesting: no upstream's options come near it, and a walk of this depth never runs out of stack. */
export const MAX_DEPTH = 32

/** Upstreams' names for the number of images, or of what is charged like images. Seedream's is inside an object. */
const MULTIPLIERS: ReadonlySet<string> = new Set([
  'batch_size',
  'frame_count',
  'image_count',
  'max_images',
  'n_iter',
  'num_images',
  'num_images_per_prompt',
  'num_outputs',
  'num_samples',
  'number_of_images',
  'numberOfImages',
  'sampleCount',
])

/** Why a field can't be passed on: it multiplies the cost, JSON can't write its number, or it is too deep. */
export function unfitPart(
  name: string,
  value: unknown,
  depth = 1,
): 'multiplies' | 'number' | 'depth' | undefined {
  if (MULTIPLIERS.has(name)) return 'multiplies'
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'number'
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > MAX_DEPTH) return 'depth'
  // The entries of a list have no name of their own.
  const entries = isRecord(value)
    ? Object.entries(value)
    : (value as unknown[]).map((item) => ['', item] as const)
  for (const [inner, item] of entries) {
    const unfit = unfitPart(inner, item, depth + 1)
    if (unfit !== undefined) return unfit
  }
  return undefined
}
