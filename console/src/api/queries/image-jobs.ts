/** Images that a member made in the playground. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answerOf, client, type Schema } from '../client.ts'

export type ImageJob = Schema<'ReportedImageJob'>

const SHOWN = 40

export const imageJobQueries = {
  mine: (project: string) =>
    queryOptions({
      queryKey: ['image-jobs', 'mine', project],
      placeholderData: keepPreviousData,
      queryFn: ({ signal }) =>
        answerOf(
          client.GET('/api/v1/image-jobs', {
            params: { query: { mine: 'true', project, limit: SHOWN } },
            signal,
          }),
        ),
    }),
}
