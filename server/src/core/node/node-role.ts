/** The tasks of one process of an install. */
export const NODE_ROLES = ['all', 'gateway', 'control', 'worker'] as const
export type NodeRole = (typeof NODE_ROLES)[number]

export interface NodeTasks {
  /** The public port. */
  readonly takesRequests: boolean
  /** Console and control API on the control port. Health and metrics are there in every role. */
  readonly hasControl: boolean
  /** Work for all nodes: upkeep, webhooks, probes of vector spaces, image jobs that lost their process. */
  readonly doesChores: boolean
}

const TASKS: Readonly<Record<NodeRole, NodeTasks>> = {
  all: { takesRequests: true, hasControl: true, doesChores: true },
  gateway: { takesRequests: true, hasControl: false, doesChores: false },
  control: { takesRequests: false, hasControl: true, doesChores: false },
  worker: { takesRequests: false, hasControl: false, doesChores: true },
}

export function tasksOf(role: NodeRole): NodeTasks {
  return TASKS[role]
}
