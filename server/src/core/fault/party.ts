/** Who was at fault when a request failed: the caller, Torana with its setup, or the upstream. */
import type { FaultCode } from './fault.ts'
import { FAULTS } from './table.ts'

export const PARTIES = ['caller', 'torana', 'upstream'] as const
export type Party = (typeof PARTIES)[number]

type OperatorCode = {
  [Code in FaultCode]: (typeof FAULTS)[Code]['who'] extends 'operator' ? Code : never
}[FaultCode]

/** Faults that an operator must act on, which does not say whose they are. */
const OF_OPERATORS: Readonly<Record<OperatorCode, Party>> = {
  address_not_allowed: 'caller',
  asset_store_unreachable: 'torana',
  budget_exhausted: 'caller',
  budget_store_unreachable: 'torana',
  deployments_busy: 'torana',
  deployments_drained: 'torana',
  disk_full: 'torana',
  file_store_unreachable: 'torana',
  forbidden: 'caller',
  image_store_unreachable: 'torana',
  insecure_sign_in: 'torana',
  key_expired: 'caller',
  key_revoked: 'caller',
  key_store_unreachable: 'torana',
  ledger_unavailable: 'torana',
  model_not_allowed: 'caller',
  model_unpriced: 'torana',
  node_overloaded: 'torana',
  node_starting: 'torana',
  outcome_unknown: 'upstream',
  project_deleted: 'torana',
  scope_not_allowed: 'caller',
  sign_on_failed: 'upstream',
  space_quarantined: 'upstream',
  space_unknown: 'torana',
  space_unprobed: 'torana',
  store_unreachable: 'torana',
  too_many_bodies: 'torana',
  too_many_exports: 'torana',
  too_many_files_at_once: 'torana',
  too_many_image_jobs: 'torana',
  too_many_streams: 'torana',
  uploads_unwritable: 'torana',
  upstream_model_missing: 'torana',
  upstream_rejected_us: 'torana',
}

const OF_WHO = { caller: 'caller', upstream: 'upstream', gateway: 'torana' } as const

/** Undefined for a code of another version. */
export function partyOf(code: string): Party | undefined {
  if (!Object.hasOwn(FAULTS, code)) return undefined
  const { who } = FAULTS[code as FaultCode]
  return who === 'operator' ? OF_OPERATORS[code as OperatorCode] : OF_WHO[who]
}
