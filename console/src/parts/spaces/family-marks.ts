import type { Schema } from '../../api/client.ts'
import type { Mark } from '../../ui/state-mark.tsx'

/** A model outside its family answers in its own space. */
export const FAMILY_MARKS: Record<Schema<'SpaceFamily'>['state'], Mark> = {
  joined: 'good',
  outside: 'odd',
  waiting: 'off',
}
