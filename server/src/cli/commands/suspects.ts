/** `torana spaces suspects` and `torana spaces repair`: vectors that may be of another space, and their repair. */
import { writeFile } from 'node:fs/promises'
import { command } from '../command/command.ts'
import { secondText, tableOf, type Columns } from './columns.ts'

interface SuspectWindow {
  readonly id: string
  readonly model: string
  readonly deployment: string
  readonly from: string
  readonly until: string | null
  readonly unlisted_before: string | null
  readonly vectors: number
  readonly requests: number
  readonly keys: number
  readonly batch_lines: number
  readonly repairable_vectors: number
  readonly repaired_vectors: number
  readonly state: string
}

interface SuspectVectors {
  readonly request_id: string
  readonly inputs: number
  readonly repairable: boolean
}

interface Repair {
  readonly batch: string
  readonly of: string
  readonly project: string
  readonly lines: number
  readonly state: string | null
}

/** Timeout of a repair: the chunks of its batches are cut from files of any size. */
const REPAIR_MS = 5 * 60_000
const PAGING = { perPage: 1000, parameter: 'cursor' } as const
const WINDOWS = 200

export const suspects = command({
  name: 'suspects',
  summary: 'list times in which a deployment may have answered with vectors of another space',
  more: 'The exit code is 1 if a repair waits for you.',
  reach: 'node',
  async run({ control }) {
    const path = `/spaces/suspects?limit=${WINDOWS}`
    const { data } = await control.ask<{ readonly data: readonly SuspectWindow[] }>('GET', path)
    const exitCode = data.some(isWaiting) ? 1 : 0
    const text = tableOf(WINDOW_COLUMNS, data, 'There are no suspect vectors.')
    const unlisted = data.flatMap(({ id, unlisted_before: before }) =>
      before === null
        ? []
        : [`${id} lists no requests before ${secondText(before)}: their days were dropped.`],
    )
    return { data, text, exitCode, ...(unlisted.length > 0 && { note: unlisted.join('\n') }) }
  },
})

export const repair = command({
  name: 'repair',
  summary: 'embed the suspect vectors of a window again, or list them',
  arguments: [{ name: '<window>', says: 'such as sus_0d1f…, from torana spaces suspects' }],
  options: {
    list: { says: 'repair nothing, and print the vectors as JSON lines' },
    output: { takes: '<file>', says: 'write the vectors there, as JSON lines', short: 'o' },
  },
  more: 'Torana embeds lines of batches again, as new batches of the same keys and budgets: their results have the same custom_id. A second call makes nothing twice. Torana has no inputs of other requests: embed those again yourself.',
  examples: ['torana spaces repair sus_52d0f7e7f9c24c0b8a2b54cf3a0f6a41 --output suspects.jsonl'],
  reach: 'node',
  async run({ control, given: [id = ''], flag, text }) {
    const path = `/spaces/suspects/${encodeURIComponent(id)}`
    const vectors = await control.items<SuspectVectors>(`${path}/vectors`, new URLSearchParams(), PAGING)
    const lines = vectors.map((one) => `${JSON.stringify(one)}\n`).join('')
    const file = text('output')
    if (file !== undefined) await writeFile(file, lines)
    const note = noteOn(vectors, file)
    if (flag('list')) return { data: vectors, ...(file === undefined && { text: lines }), note }
    const { data } = await control.ask<{ readonly data: readonly Repair[] }>(
      'POST',
      `${path}/repair`,
      undefined,
      REPAIR_MS,
    )
    return { data, text: tableOf(REPAIR_COLUMNS, data, 'No batch has lines to embed again.'), note }
  },
})

/** A window may be open for days: what can be repaired need not wait for its end. */
function isWaiting({
  state,
  repaired_vectors: repaired,
  repairable_vectors: repairable,
}: SuspectWindow): boolean {
  return state === 'waiting' || (state === 'open' && repaired < repairable)
}

function noteOn(vectors: readonly SuspectVectors[], file: string | undefined): string {
  const own = vectors.filter(({ repairable }) => !repairable)
  const inputs = own.reduce((sum, one) => sum + one.inputs, 0)
  const where = file === undefined ? '' : ` ${file} has all.`
  if (own.length === 0) return `Torana has the inputs of all ${vectors.length} requests.${where}`
  return `${inputs} vectors of ${own.length} requests must be embedded again by their callers.${where}`
}

const WINDOW_COLUMNS: Columns<SuspectWindow> = {
  window: 'id',
  deployment: 'deployment',
  from: ({ from }) => secondText(from),
  until: ({ until }) => secondText(until),
  state: 'state',
  vectors: 'vectors',
  requests: 'requests',
  'batch lines': 'batch_lines',
  keys: 'keys',
  repaired: ({ repaired_vectors: repaired, repairable_vectors: repairable }) =>
    `${repaired} of ${repairable}`,
}

const REPAIR_COLUMNS: Columns<Repair> = {
  batch: 'batch',
  'lines of': 'of',
  project: 'project',
  lines: 'lines',
  state: 'state',
}
