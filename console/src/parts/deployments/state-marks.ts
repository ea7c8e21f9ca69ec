/** The shape and colour of each state of a deployment. */
import type { Overview } from '../../api/queries/overview.ts'
import type { Mark } from '../../ui/state-mark.tsx'

export const STATE_MARKS: Record<Overview['deployments'][number]['state'], Mark> = {
  healthy: 'good',
  limited: 'warn',
  ejected: 'bad',
  probing: 'wait',
  'held-back': 'off',
  quarantined: 'odd',
  drained: 'off',
}
