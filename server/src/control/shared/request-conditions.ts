/** Conditions on rows of the request log, as SQL. */
import type { Outcome } from '#core/request/request-outcome.ts'
import { KIND_OF_ROUTE, sourceOf, type RequestSource } from '#ports/request-reports.ts'

export const IS_OUTCOME: Readonly<Record<Outcome, string>> = {
  answered: 'status < 400',
  refused: 'status BETWEEN 400 AND 499 AND status NOT IN (424, 429)',
  limited: `status = 429 AND fault IS DISTINCT FROM 'upstream_rate_limited'`,
  failed: `(status >= 500 OR fault = 'upstream_rate_limited')`,
  unknown: 'status = 424',
}

/** The log also has lists of models and paths that do not exist. */
export const IS_WORK = `route IN (${Array.from(KIND_OF_ROUTE.keys(), (route) => `'${route}'`).join(', ')})`

export function isFrom(source: RequestSource): string {
  const batches = [...KIND_OF_ROUTE.keys()].filter((route) => sourceOf(route) === 'batches')
  const routes = batches.map((route) => `'${route}'`).join(', ')
  return source === 'batches' ? `route IN (${routes})` : `route NOT IN (${routes})`
}

/** Usage of keys. Torana's own checks of deployments are in the ledger as the project `system`, and are no one's requests. */
export const IS_NO_CHECK = `project <> 'system'`

/** Requests of callers, without lines of batches. */
export const IS_OF_CALLERS = isFrom('callers')
