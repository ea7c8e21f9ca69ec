import type { Snapshot } from '../../api/queries/snapshots.ts'

/** What each page shows of a snapshot. */
export interface BodyProps {
  readonly content: Snapshot['content']
  readonly atMs: number
}
