/** A key as work that outlives its request keeps it: the terms of that moment count, though the key may change meanwhile. */
import type { Key } from '#ports/keys.ts'

export interface StoredKey extends Pick<Key, 'id' | 'name' | 'project' | 'limits'> {
  /** Undefined means all models. */
  readonly models?: readonly string[] | undefined
  readonly budgets: readonly (Omit<Key['budgets'][number], 'limitNanoUsd'> & {
    readonly limitNanoUsd: string
  })[]
}

export function storedKey({ id, name, project, limits, models, budgets }: Key): StoredKey {
  return {
    id,
    name,
    project,
    limits,
    models: models && [...models],
    budgets: budgets.map((budget) => ({ ...budget, limitNanoUsd: String(budget.limitNanoUsd) })),
  }
}

export function keyOfStored({ models, budgets, ...stored }: StoredKey): Key {
  return {
    ...stored,
    models: models && new Set(models),
    expiresAtMs: undefined,
    budgets: budgets.map((budget) => ({ ...budget, limitNanoUsd: BigInt(budget.limitNanoUsd) })),
  }
}
