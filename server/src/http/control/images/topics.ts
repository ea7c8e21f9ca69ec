/** What is live about image jobs: how far those of a member's own playground are. */
import type { EventTopic } from '../events/topic.ts'
import { playgroundKey } from '../access/caller.ts'
import { jobBody } from './job-shapes.ts'
import type { ImageJobsDependencies } from './jobs.ts'

/** An image request may take ten minutes; whoever reads its end some minutes later has asked for the page anew. */
const LOOK_BACK_MS = 20 * 60_000
/** Of one member at once: more are not looked at one by one. */
const MOST_JOBS = 50

export interface LiveJobs extends ImageJobsDependencies {
  readonly nowMs: () => number
}

export function jobTopic({ reports, retentionMs, nowMs }: LiveJobs): EventTopic {
  return {
    name: 'job',
    permission: 'requests.read',
    open({ caller, projects }) {
      let before: ReadonlyMap<string, string> | undefined
      return {
        async news() {
          const own = { projects, keyEnd: `/${playgroundKey(caller)}`, sinceMs: nowMs() - LOOK_BACK_MS }
          const found = await reports.list(own, { limit: MOST_JOBS })
          const jobs = found.map((job) => jobBody(job, retentionMs))
          const known = before
          before = new Map(jobs.map((job) => [job.id, JSON.stringify(job)]))
          // The page has just asked for all of them.
          if (known === undefined) return []
          return jobs.filter(({ id }) => known.get(id) !== before?.get(id)).toReversed()
        },
      }
    },
  }
}
