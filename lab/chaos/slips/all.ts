import { CLOCK_SLIPS } from './clock-slips.ts'
import { SCHEMA_SLIPS } from './schema-slips.ts'
import type { Slip } from './slip.ts'

export const SLIPS: readonly Slip[] = [...CLOCK_SLIPS, ...SCHEMA_SLIPS]
