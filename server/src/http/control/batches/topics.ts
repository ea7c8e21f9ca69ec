/** What is live about batches: how far those are that have not ended, and how the others ended. */
import type { BatchReports } from '#ports/batch-reports.ts'
import type { EventTopic } from '../events/topic.ts'
import { batchBody } from './shapes.ts'

/** A stream that was slow for a while still hears of an end. */
const ENDED_MS = 60_000
/** At once: more are not looked at one by one. */
const MOST_BATCHES = 100

export interface LiveBatches {
  readonly reports: Pick<BatchReports, 'list'>
  readonly nowMs: () => number
}

export function batchTopic({ reports, nowMs }: LiveBatches): EventTopic {
  return {
    name: 'batch',
    permission: 'batches.read',
    open({ projects }) {
      let before: ReadonlyMap<string, string> | undefined
      return {
        async news() {
          const filter = { projects, openSinceMs: nowMs() - ENDED_MS }
          const batches = (await reports.list(filter, { limit: MOST_BATCHES })).map(batchBody)
          const known = before
          before = new Map(batches.map((batch) => [batch.id, JSON.stringify(batch)]))
          // The page has just asked for all of them.
          if (known === undefined) return []
          return batches.filter(({ id }) => known.get(id) !== before?.get(id)).toReversed()
        },
      }
    },
  }
}
