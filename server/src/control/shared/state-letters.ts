import type { DeploymentStateName } from '#core/schedule/scheduler.ts'

/** How a cell of a history writes a state. */
export const STATE_LETTERS: Record<DeploymentStateName, string> = {
  healthy: 'g',
  limited: 'w',
  probing: 'b',
  ejected: 'b',
  quarantined: 'q',
  'held-back': '.',
  drained: '.',
}
