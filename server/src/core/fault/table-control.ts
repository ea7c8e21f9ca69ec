/** What only the control API answers. */
import type { FaultEntry } from './entry.ts'

export const CONTROL_FAULTS = {
  forbidden: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning:
      'The control API knows who asks, and that person or token may not do this: its role is too small, the project is not one of its own, or it may only read.',
    nextStep:
      'Ask an admin to do it, or to change the role. The message names the permission that is missing.',
  },
} as const satisfies Record<string, FaultEntry>
