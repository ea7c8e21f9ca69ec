/** What the routes of the control API need from outside. */
import type { AccessDependencies } from './shared/authenticate.ts'
import type { ControlRequest, FaultAnswering } from './shared/answer-fault.ts'
import type { ControlNode } from './shared/node.ts'
import type { EventTopic } from './shared/topic.ts'

export interface ApiDependencies extends AccessDependencies, FaultAnswering {
  readonly node: ControlNode
  /** Live topics beside those of the features, for tests. */
  readonly topics: readonly EventTopic[]
  /** Hears of each request with a valid token, when it is answered. */
  readonly onAdminRequest: (
    request: ControlRequest & { readonly actor: string; readonly status: number },
  ) => void
}
