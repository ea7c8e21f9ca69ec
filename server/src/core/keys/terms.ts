/** The terms of a key: the limits and budgets of its project and its own. */
import type { Budget } from '../money/budget.ts'
import type { ConfiguredBudget, ConfiguredLimits } from '../catalog/catalog.ts'
import type { RateLimit, RateUnit } from '../limits/limit.ts'

interface Terms {
  readonly limits?: ConfiguredLimits | undefined
  readonly budget?: ConfiguredBudget | undefined
}

export interface KeyTerms {
  readonly limits: readonly RateLimit[]
  readonly budgets: readonly Budget[]
}

export function termsOf(project: string, ofProject: Terms, keyId: string, ofKey: Terms): KeyTerms {
  const budgets = [projectBudget(project, ofProject), keyBudget(keyId, ofKey)]
  return {
    limits: [
      ...rateLimitsOf(`project:${project}`, project, ofProject.limits),
      ...rateLimitsOf(`key:${keyId}`, project, ofKey.limits),
    ],
    budgets: budgets.filter((budget) => budget !== undefined),
  }
}

export function projectBudget(project: string, { budget }: Terms): Budget | undefined {
  return budget && { id: `project:${project}`, ...budget }
}

export function keyBudget(keyId: string, { budget }: Terms): Budget | undefined {
  return budget && { id: `key:${keyId}`, ...budget }
}

const UNITS = [
  ['requests', 'requestsPerMinute'],
  ['tokens', 'tokensPerMinute'],
  ['images', 'imagesPerMinute'],
] as const satisfies readonly (readonly [RateUnit, keyof ConfiguredLimits])[]

function rateLimitsOf(owner: string, project: string, limits: ConfiguredLimits = {}): RateLimit[] {
  return UNITS.flatMap(([unit, field]) => {
    const perMinute = limits[field]
    return perMinute === undefined ? [] : [{ id: `${owner}:${unit}`, project, unit, perMinute }]
  })
}
