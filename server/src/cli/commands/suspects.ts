/** `torana spaces suspects`: vectors that may be of another space. */
import { command } from '../command/command.ts'
import { secondText, tableOf, type Columns } from './columns.ts'

interface SuspectWindow {
  readonly id: string
  readonly deployment: string
  readonly from: string
  readonly until: string | null
  readonly unlisted_before: string | null
  readonly vectors: number
  readonly requests: number
  readonly keys: number
  readonly batch_lines: number
}

const PAGING = { perPage: 1000, parameter: 'cursor' } as const
const WINDOWS = 200

export const suspects = command({
  name: 'suspects',
  summary:
    'list times in which a deployment may have answered with vectors of another space, or the vectors of one',
  arguments: [
    {
      name: '<window>',
      says: 'print its requests and lines of batches, as JSON lines',
      isOptional: true,
    },
  ],
  more: 'Torana keeps no inputs of requests: embed them again yourself. The lines of a batch are counted from 1 in its file.',
  examples: [
    'torana spaces suspects',
    'torana spaces suspects sus_52d0f7e7f9c24c0b8a2b54cf3a0f6a41 > suspects.jsonl',
  ],
  reach: 'node',
  async run({ control, given: [id] }) {
    if (id !== undefined) {
      const path = `/spaces/suspects/${encodeURIComponent(id)}/vectors`
      const vectors = await control.items(path, new URLSearchParams(), PAGING)
      return { data: vectors, text: vectors.map((one) => `${JSON.stringify(one)}\n`).join('') }
    }
    const path = `/spaces/suspects?limit=${WINDOWS}`
    const { data } = await control.ask<{ readonly data: readonly SuspectWindow[] }>('GET', path)
    const text = tableOf(COLUMNS, data, 'There are no suspect vectors.')
    const unlisted = data.flatMap(({ id: window, unlisted_before: before }) =>
      before === null
        ? []
        : [`${window} lists no requests before ${secondText(before)}: their days were dropped.`],
    )
    return { data, text, ...(unlisted.length > 0 && { note: unlisted.join('\n') }) }
  },
})

const COLUMNS: Columns<SuspectWindow> = {
  window: 'id',
  deployment: 'deployment',
  from: ({ from }) => secondText(from),
  until: ({ until }) => secondText(until),
  vectors: 'vectors',
  requests: 'requests',
  'batch lines': 'batch_lines',
  keys: 'keys',
}
