/** `torana jobs`: image jobs, how far each is, and what it made. */
import { command } from '../command/command.ts'
import { LIMIT, limitOf, queryOf } from './query.ts'
import { table } from '../command/table.ts'
import { dayText, shownUsd } from './terms.ts'

interface Job {
  readonly id: string
  readonly status: string
  readonly kind: string
  readonly key: string
  readonly model: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly duration_ms: number | null
  readonly cost_usd: string | null
  readonly fault: string | null
  readonly pictures: readonly { readonly asset: string }[]
}

const STATES = ['queued', 'running', 'succeeded', 'failed', 'unknown']

export const jobs = command({
  name: 'jobs',
  summary: 'list image jobs, newest first',
  options: {
    project: { takes: '<project>', says: 'of one project' },
    model: { takes: '<model>', says: 'of one model' },
    status: { takes: '<status>', says: 'in this state', oneOf: STATES },
    limit: LIMIT,
  },
  reach: 'node',
  async run({ control, text }) {
    const query = queryOf(text, { project: 'project', model: 'model', status: 'status' })
    const found = await (await control()).pages<Job>('/image-jobs', query, limitOf(text('limit')))
    return { data: found, text: listing(found) }
  },
})

function listing(found: readonly Job[]): string {
  if (found.length === 0) return 'There are no such jobs.\n'
  const head = [
    'created',
    'status',
    'kind',
    'key',
    'model',
    'pictures',
    'seconds',
    'cost',
    'kept until',
    'id',
  ]
  const rows = found.map((one) => [
    dayText(one.created_at),
    one.fault ?? one.status,
    one.kind,
    one.key,
    one.model,
    String(one.pictures.length),
    one.duration_ms === null ? '-' : (one.duration_ms / 1000).toFixed(1),
    one.cost_usd === null ? '-' : shownUsd(one.cost_usd),
    dayText(one.expires_at),
    one.id,
  ])
  return table([head, ...rows])
}
