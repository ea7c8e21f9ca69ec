/**
 * Every error that a caller can get, in one catalogue. `docs/errors.md` is generated from it. A message says what happened,
 * with the value; why, with the number; and what to do next.
 */
import { CALLER_FAULTS } from './table-4xx.ts'
import { VECTOR_FAULTS } from './table-vectors.ts'
import { FILE_FAULTS } from './table-files.ts'
import { LIMIT_FAULTS } from './table-limits.ts'
import { SERVER_FAULTS } from './table-5xx.ts'
import { SIGN_IN_FAULTS } from './table-sign-in.ts'
import { CONTROL_FAULTS } from './table-control.ts'

export const FAULTS = {
  ...CALLER_FAULTS,
  ...VECTOR_FAULTS,
  ...LIMIT_FAULTS,
  ...FILE_FAULTS,
  ...CONTROL_FAULTS,
  ...SIGN_IN_FAULTS,
  ...SERVER_FAULTS,
} as const
