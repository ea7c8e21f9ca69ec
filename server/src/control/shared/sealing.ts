/** Whether hours of the ledger are compared and sealed in time. */
import { STALLED_AFTER_MS } from '#ports/sealed-hours.ts'
import type { SealFigures } from '#ports/upkeep.ts'

/** The step that has waited longer. Hours are compared and sealed one after another: a stalled one holds up all later ones. */
export function slowerStep({ sealWaitsMs, compareWaitsMs }: SealFigures) {
  const waitsMs = Math.max(sealWaitsMs, compareWaitsMs)
  const step = sealWaitsMs >= compareWaitsMs ? ('seal' as const) : ('compare' as const)
  return { step, waitsMs, isStalled: waitsMs >= STALLED_AFTER_MS }
}
