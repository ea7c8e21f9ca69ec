/** All mutants, by what they break. */
import { DISPATCH } from './dispatch.ts'
import { MONEY } from './money.ts'
import type { Mutant } from './mutant.ts'
import { RECOVERY } from './recovery.ts'
import { RIGHTS } from './rights.ts'
import { SPACES } from './spaces.ts'

export const MUTANTS: readonly Mutant[] = [...MONEY, ...RIGHTS, ...SPACES, ...DISPATCH, ...RECOVERY]
