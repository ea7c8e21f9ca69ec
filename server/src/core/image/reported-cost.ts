/** The cost that an upstream reports in its answer. */
import type { ImageCapabilities } from '../catalog/catalog.ts'
import { isRecord } from '../text/record.ts'

type ReportedCost = NonNullable<ImageCapabilities['reportedCost']>

const NANO_USD_PER_USD = 1e9

/** Undefined when it reports none, or not an amount of money. */
export function reportedNanoUsd(answer: unknown, at: ReportedCost | undefined): bigint | undefined {
  if (at === undefined) return undefined
  let value = answer
  for (const name of at.field.split('.')) value = isRecord(value) ? value[name] : undefined
  if (typeof value !== 'number' || value < 0) return undefined
  const nanoUsd = Math.round(value * at.usdPerUnit * NANO_USD_PER_USD)
  return Number.isFinite(nanoUsd) ? BigInt(nanoUsd) : undefined
}
