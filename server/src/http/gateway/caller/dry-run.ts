/** The answer to `x-torana-dry-run`: what would happen, without a call. */
import type { ServerResponse } from 'node:http'

interface DryRunBody {
  readonly model: string
  readonly dropped: readonly string[]
  readonly deployments: readonly { readonly id: string; readonly cost_usd: CostRange }[]
}

interface CostRange {
  readonly min: string
  readonly max: string
}

/** Each kind of request adds fields of its own. */
export function writeDryRun(response: ServerResponse, requestId: string, body: DryRunBody): void {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'x-request-id': requestId })
  response.end(JSON.stringify({ object: 'torana.dry_run', ...body }))
}

/** The minimum is zero, since a call may fail before it is charged. */
export function costRange(maxCostUsd: string): CostRange {
  return { min: maxCostUsd === 'unpriced' ? 'unpriced' : '0.000000000', max: maxCostUsd }
}
