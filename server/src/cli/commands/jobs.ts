/** `torana jobs`: image jobs with their progress and results. */
import { shownUsd } from './columns.ts'
import { listCommand } from './list-command.ts'
import { LIMIT } from './query.ts'

interface Job {
  readonly status: string
  readonly fault: string | null
  readonly duration_ms: number | null
  readonly pictures: readonly unknown[]
  readonly cost_usd: string | null
  readonly cost_in_files: boolean
}

export const jobs = listCommand({
  name: 'jobs',
  summary: 'list image jobs, newest first',
  options: {
    project: { takes: '<project>', says: 'of one project' },
    model: { takes: '<model>', says: 'of one model' },
    status: {
      takes: '<status>',
      says: 'in this state',
      oneOf: ['queued', 'running', 'succeeded', 'failed', 'unknown'],
    },
    limit: LIMIT,
  },
  path: '/image-jobs',
  paging: { perPage: 50 },
  columns: {
    created: 'created_at',
    status: ({ fault, status }: Job) => fault ?? status,
    kind: 'kind',
    key: 'key',
    model: 'model',
    pictures: ({ pictures }) => String(pictures.length),
    seconds: ({ duration_ms: ms }) => (ms === null ? '-' : (ms / 1000).toFixed(1)),
    cost: ({ cost_usd: usd, cost_in_files: isInFiles }) =>
      usd === null ? (isInFiles ? 'in files' : '-') : shownUsd(usd),
    'kept until': 'expires_at',
    id: 'id',
  },
  none: 'There are no such jobs.',
})
