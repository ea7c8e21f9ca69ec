/** Routes of image jobs. */
import type { ImageJobReports } from '#ports/image-job-reports.ts'
import type { ImageJobState } from '#ports/image-jobs.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, playgroundKey, visibleProjects } from '../access/caller.ts'
import { cursorPage } from '../wire/page.ts'
import type { Api } from '../wire/route.ts'
import { jobBody, STATUS_OF } from './job-shapes.ts'
import { imageJobList, jobsQuery } from './jobs-schemas.ts'

export interface ImageJobsDependencies {
  readonly reports: ImageJobReports
  /** For how long pictures are kept. */
  readonly retentionMs: number
}

export function registerImageJobs(api: Api, { reports, retentionMs }: ImageJobsDependencies): void {
  api.get('/image-jobs', {
    config: { permission: 'requests.read' },
    schema: {
      operationId: 'listImageJobs',
      summary: 'Image jobs, newest first: how far each is, and what it made',
      querystring: jobsQuery,
      response: { 200: imageJobList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { mine, project, model, status, limit, after } = request.query
      const caller = callerIn(request)
      const states =
        status && (Object.keys(STATUS_OF) as ImageJobState[]).filter((one) => STATUS_OF[one] === status)
      const filter = {
        projects: visibleProjects(caller, project),
        keyEnd: mine === 'true' ? `/${playgroundKey(caller)}` : undefined,
        model,
        states,
      }
      const jobs = await reports.list(filter, { limit: limit + 1, after })
      return cursorPage(jobs, limit, { bodyOf: (job) => jobBody(job, retentionMs), cursorOf: ({ id }) => id })
    },
  })
}
