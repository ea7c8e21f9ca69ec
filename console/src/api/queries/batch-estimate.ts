/** What the estimate of a new batch is made of. Budgets move, counts of texts do not. */
import { queryOptions } from '@tanstack/react-query'
import { dryRun, type AskedTexts } from '../batch-file.ts'
import { api } from '../client.ts'

const CHANGING = { refetchInterval: 30_000 }
/** As many as one page has. */
const MAX_ROWS = 200

/** `file`: names the texts, which are too long for the key of a query. */
export interface AskedCounts extends AskedTexts {
  readonly file: number
  readonly column: string
}

export const estimateQueries = {
  counts: (asked: AskedCounts) =>
    queryOptions({
      queryKey: [
        'post',
        '/api/v1/playground/embeddings',
        [asked.file, asked.column, asked.project, asked.model, asked.dimensions],
      ],
      queryFn: ({ signal }) => dryRun(asked, signal),
      staleTime: Infinity,
    }),
  budgets: (project: string, scope: 'project' | 'key') =>
    api.queryOptions(
      'get',
      '/api/v1/budgets',
      { params: { query: { project, scope, limit: MAX_ROWS } } },
      CHANGING,
    ),
}
