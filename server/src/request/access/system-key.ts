import type { Key } from '#ports/keys.ts'

/** The gateway's own key, without limits. Its spending is recorded under its own name. */
export const SYSTEM_KEY: Key = {
  id: 'system',
  name: 'system',
  project: 'system',
  models: undefined,
  expiresAtMs: undefined,
  limits: [],
  budgets: [],
}
