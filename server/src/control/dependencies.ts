/** What the routes of the control API need from outside. */
import type { AccessDependencies } from './shared/authenticate.ts'
import type { ControlRequest, FaultAnswering } from './shared/answer-fault.ts'
import type { ControlNode } from './shared/node.ts'

export interface ApiDependencies extends AccessDependencies, FaultAnswering {
  readonly node: ControlNode
  /** Hears of each request with a valid token, when it is answered. */
  readonly onAdminRequest: (
    request: ControlRequest & { readonly actor: string; readonly status: number },
  ) => void
}
