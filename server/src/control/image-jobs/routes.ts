/** Image jobs: their list, and the live topic of those from a member's own playground. */
import { z } from 'zod'
import { callerIn, playerOf, visibleProjects } from '../shared/caller.ts'
import { pageOf, storable } from '../shared/fields.ts'
import { imageJob, imageJobStatus, listImageJobs, type JobNode } from '../shared/image-job-queries.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { changeFeed, type EventTopic } from '../shared/topic.ts'

const MAX_NAME_CHARACTERS = 512

const jobsQuery = z.object({
  mine: z.enum(['true', 'false']).optional().describe('Only those that this member made in the playground.'),
  project: storable(MAX_NAME_CHARACTERS).optional(),
  model: storable(MAX_NAME_CHARACTERS).optional(),
  status: imageJobStatus.optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: z.uuid().optional(),
})

const imageJobList = pageOf(imageJob).meta({ id: 'ReportedImageJobList' })

export function registerImageJobs(api: Api, node: JobNode): void {
  route(api, 'GET /image-jobs', {
    permission: 'requests.read',
    id: 'listImageJobs',
    summary: 'Image jobs, newest first: how far each is, and what it made',
    query: jobsQuery,
    answer: imageJobList,
    handler: async (request) => {
      const { mine, project, model, status, limit, after } = request.query
      const caller = callerIn(request)
      const projects = visibleProjects(caller, project)
      const player = mine === 'true' ? playerOf(caller) : undefined
      const jobs = await listImageJobs(node, { projects, player, model, status, after, limit: limit + 1 })
      return cursorPage(jobs, limit, { bodyOf: (job) => job, cursorOf: ({ id }) => id })
    },
  })
}

/** Age of the oldest job that the topic watches. An image request takes ten minutes at most; older jobs come with the page. */
const LOOK_BACK_MS = 20 * 60_000
/** Jobs of one member that the topic watches. */
const MAX_WATCHED = 50

export function jobTopic(node: JobNode & Pick<ControlNode, 'clock'>): EventTopic {
  return {
    name: 'job',
    permission: 'requests.read',
    open: ({ caller, projects }) =>
      changeFeed(() => {
        const sinceMs = node.clock.nowMs() - LOOK_BACK_MS
        const player = playerOf(caller)
        return listImageJobs(node, { projects, player, sinceMs, limit: MAX_WATCHED })
      }),
  }
}
