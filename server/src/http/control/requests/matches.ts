import type { LoggedRequest, RequestFilter } from '#ports/request-reports.ts'

/** Whether a request that has just ended is among those that the filter asks for, its time aside. */
export function matches(row: LoggedRequest, filter: RequestFilter): boolean {
  const { projects, keys, models, deployment, kinds, outcomes, status, faults, tries, client, user } = filter
  const isIn = <Value>(values: readonly Value[] | undefined, value: Value | undefined): boolean =>
    values === undefined || (value !== undefined && values.includes(value))
  return (
    isIn(projects, row.project) &&
    isIn(keys, row.key) &&
    isIn(models, row.model) &&
    isIn(kinds, row.kind) &&
    (filter.source === undefined || row.source === filter.source) &&
    isIn(outcomes, row.outcome) &&
    isIn(faults, row.fault) &&
    (deployment === undefined || row.deployments.includes(deployment)) &&
    (status === undefined || row.status === status) &&
    (filter.slowerMs === undefined || row.durationMs > filter.slowerMs) &&
    (filter.dearerNanoUsd === undefined || (row.costNanoUsd ?? 0n) > filter.dearerNanoUsd) &&
    (tries === undefined || row.calls >= tries) &&
    (client === undefined || row.clientRequestId === client) &&
    (user === undefined || row.labels?.user === user) &&
    Object.entries(filter.tags ?? {}).every(([key, value]) => row.labels?.tags?.[key] === value)
  )
}
