/** Images that a member made in the playground. */
import { keepPreviousData } from '@tanstack/react-query'
import { api, type Schema } from '../client.ts'

export type ImageJob = Schema<'ReportedImageJob'>

const SHOWN = 40

export const imageJobQueries = {
  mine: (project: string) =>
    api.queryOptions(
      'get',
      '/api/v1/image-jobs',
      { params: { query: { mine: 'true', project, limit: SHOWN } } },
      { placeholderData: keepPreviousData },
    ),
}
