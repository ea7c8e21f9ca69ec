/** The fixed facts of a fault. */
export interface FaultEntry {
  readonly status: number
  /** OpenAI's coarse class, which SDKs show beside the code. */
  readonly type: FaultType
  /** Sent as `x-should-retry`, which OpenAI's SDKs obey in both directions. */
  readonly retry: boolean
  /** The party that must act. */
  readonly who: 'caller' | 'operator' | 'upstream' | 'gateway'
  readonly meaning: string
  readonly nextStep: string
}

type FaultType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'upstream_error'
  | 'server_error'
