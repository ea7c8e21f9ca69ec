/** Composition of what is live about requests, image jobs and batches in a console. */
import { hostname } from 'node:os'
import { batchTopic } from '#http/control/batches/topics.ts'
import type { EventTopic } from '#http/control/events/topic.ts'
import { jobTopic } from '#http/control/images/topics.ts'
import { keyTopic, requestTopic } from '#http/control/requests/topics.ts'
import type { Basics } from './basics.ts'
import type { Stores } from './stores.ts'

/** None on a node that keeps nothing. */
export function liveRequests(
  { clock, limits }: Basics,
  { reports, requestTail: tail, liveNodes }: Pick<Stores, 'reports' | 'requestTail' | 'liveNodes'>,
): readonly EventTopic[] {
  if (reports === undefined || tail === undefined) return []
  const live = { tail, reports: reports.requests, node: hostname(), liveNodes, nowMs: clock.nowMs }
  const jobs = {
    reports: reports.imageJobs,
    retentionMs: limits.assetRetentionMs,
    nowMs: clock.nowMs,
  }
  const batches = { reports: reports.batches, nowMs: clock.nowMs }
  return [requestTopic(live), keyTopic(live), jobTopic(jobs), batchTopic(batches)]
}
