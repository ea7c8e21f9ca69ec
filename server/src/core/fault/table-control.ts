/** Faults of the control API only. */
import type { FaultEntry } from './entry.ts'

export const CONTROL_FAULTS = {
  forbidden: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning:
      'The control API knows who asks, and that person or token may not do this: its role is too small, the project is not one of theirs, or it may only read.',
    nextStep:
      'Ask an admin to do it, or to change the role. The message names the permission that is missing.',
  },
  wrong_host: {
    status: 421,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'The control port was asked by a name that is not its own. A page of another site could have led that name to this node, so it answers nothing.',
    nextStep:
      'Open the console by its address, by `localhost`, or by the name in `CONSOLE_URL`. Operators: set `CONSOLE_URL` to the address that people open.',
  },
  configuration_changed: {
    status: 409,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'Another person or program changed the same upstream or model after you had read it. Nothing of your change was saved.',
    nextStep:
      'The message says who changed what and when. Read the object again, look at its change, then repeat yours from its new revision.',
  },
} as const satisfies Record<string, FaultEntry>
