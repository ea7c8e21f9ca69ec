/** `torana batch`: batches of the key's project, by the public API. */
import { existsSync, statSync } from 'node:fs'
import { appendFile, rename } from 'node:fs/promises'
import { BatchesClient, type BatchBody } from 'torana-bulk/client'
import { remedyFor, type Remedy } from '#core/batch/remedy.ts'
import { CommandProblem } from '../client/command-problem.ts'
import type { ControlClient } from '../client/control-client.ts'
import { command, group, Misuse } from '../command/command.ts'
import { batchRun } from './batch-run.ts'
import { LIMIT, limitOf } from './query.ts'
import { dayText, linesOf, tableOf, type Columns } from './columns.ts'

interface ChangedBatch {
  readonly id: string
  readonly state: string
  readonly project: string
  readonly pause: { readonly code: string } | null
}

const BATCH = { name: '<batch>', says: 'the id of a batch, such as batch_01a1…' }

const ls = command({
  name: 'ls',
  summary: 'list batches of the project, newest first',
  options: { limit: LIMIT },
  reach: 'gateway',
  async run({ gateway, text }) {
    const found = await new BatchesClient(await gateway()).list(limitOf(text('limit')))
    return { data: found, text: tableOf(COLUMNS, found, 'There are no batches.') }
  },
})

const show = command({
  name: 'show',
  summary: 'show one batch: how far it is, what it cost, what went wrong',
  arguments: [BATCH],
  reach: 'gateway',
  async run({ gateway, given: [id = ''] }) {
    const found = await new BatchesClient(await gateway()).get(id)
    return { data: found, text: detailsOf(found) }
  },
})

const cancel = command({
  name: 'cancel',
  summary: 'begin nothing more of a batch; what is done is kept',
  arguments: [BATCH],
  reach: 'gateway',
  async run({ gateway, given: [id = ''] }) {
    const found = await new BatchesClient(await gateway()).cancel(id)
    return { data: found, note: `${found.id} is ${found.status}.` }
  },
})

const goOn = command({
  name: 'continue',
  summary: 'let a batch go on whose key was revoked or has expired, under the terms of its project',
  arguments: [BATCH],
  reach: 'node',
  more: 'This speaks to the control API, and the audit keeps who did it. Models, limits and budget of the key no longer bind the batch; those of its project do.',
  examples: ['torana batch continue batch_01a1e5203fd079cc8a8a42e9c40287b8'],
  async run({ control, given: [id = ''] }) {
    const found = await changed(control, id, 'continue')
    const goesOn = found.state === 'in_progress'
    const note = goesOn ? `goes on under the terms of ${found.project}` : `is ${found.state}`
    return { data: found, note: `${found.id} ${note}.` }
  },
})

const pause = command({
  name: 'pause',
  summary: 'begin nothing more of a batch until someone resumes it; its window goes on',
  arguments: [BATCH],
  options: { reason: { takes: '<text>', says: 'shown to others, and kept in the audit' } },
  reach: 'node',
  more: 'Within two seconds no node buys anything more for it. What is done is kept, and lines that still wait when its window closes expire.',
  examples: [
    "torana batch pause batch_01a1e5203fd079cc8a8a42e9c40287b8 --reason 'the index is being rebuilt'",
  ],
  async run({ control, given: [id = ''], text }) {
    const reason = text('reason')
    const found = await changed(control, id, 'pause', reason === undefined ? {} : { reason })
    return { data: found, note: `${found.id} is ${found.pause === null ? found.state : 'paused'}.` }
  },
})

const resume = command({
  name: 'resume',
  summary: 'end the pause of a batch, whether someone made it or Torana',
  arguments: [BATCH],
  reach: 'node',
  more: 'A batch that Torana paused, such as for its budget, is tried at once; if the cause is still there, it pauses again.',
  examples: ['torana batch resume batch_01a1e5203fd079cc8a8a42e9c40287b8'],
  async run({ control, given: [id = ''] }) {
    const found = await changed(control, id, 'resume')
    return {
      data: found,
      note: `${found.id} ${found.state === 'in_progress' ? 'goes on' : `is ${found.state}`}.`,
    }
  },
})

function changed(control: ControlClient, id: string, how: string, body: object = {}): Promise<ChangedBatch> {
  return control.ask('POST', `/batches/${encodeURIComponent(id)}/${how}`, body)
}

const download = command({
  name: 'download',
  summary: 'write the results of a batch into a file, as JSON lines',
  arguments: [BATCH],
  options: {
    out: { takes: '<file>', says: 'where they go (<batch>.jsonl)', short: 'o' },
    errors: { says: 'those that failed instead' },
  },
  reach: 'gateway',
  more: 'A batch that runs gives what it has so far. A download that was broken off goes on where it broke.',
  examples: ['torana batch download batch_01a1e5203fd079cc8a8a42e9c40287b8 --out results.jsonl'],
  async run({ gateway, given: [id = ''], text, flag }) {
    const client = new BatchesClient(await gateway())
    const batch = await client.get(id)
    const out = text('out') ?? `${batch.id}${flag('errors') ? '.errors' : ''}.jsonl`
    if (existsSync(out)) throw new Misuse(`--out: ${out} is there already.`)
    const file = flag('errors') ? batch.error_file_id : batch.output_file_id
    if (file === null)
      throw new CommandProblem(
        `${batch.id} (${batch.status}) has no ${flag('errors') ? 'errors' : 'results'}.`,
      )
    const part = `${out}.part`
    const has = existsSync(part) ? statSync(part).size : 0
    for await (const chunk of client.content(file, has)) await appendFile(part, chunk)
    if (existsSync(part)) await rename(part, out)
    const { size } = statSync(out)
    return { data: { file: out, bytes: size }, note: `${out}: ${size} bytes.` }
  },
})

export const batch = group({
  name: 'batch',
  bare: 'ls',
  summary: 'make vectors of a corpus; list, show, pause, resume, cancel, continue and download batches',
  subcommands: [batchRun, ls, show, pause, resume, cancel, goOn, download],
})

const COLUMNS: Columns<BatchBody> = {
  created: ({ created_at: seconds }) => momentText(seconds),
  status: ({ torana, status }) => (torana?.pause ? `paused: ${torana.pause.code}` : status),
  model: 'model',
  done: 'request_counts.completed',
  failed: 'request_counts.failed',
  of: 'request_counts.total',
  cost: 'torana.cost_usd',
  id: 'id',
}

const DETAILS: Columns<BatchBody> = {
  batch: 'id',
  status: 'status',
  'paused by': pausedBy,
  'cancelled by': ({ torana }) =>
    torana?.cancelled_because == null ? undefined : `Torana: ${torana.cancelled_because}`,
  endpoint: 'endpoint',
  model: 'model',
  requests: ({ request_counts: { completed, failed, total } }) =>
    `${completed} completed, ${failed} failed, of ${total}`,
  tokens: 'usage.total_tokens',
  cost: 'torana.cost_usd',
  created: ({ created_at: seconds }) => momentText(seconds),
  'window ends': ({ expires_at: seconds }) => (seconds === null ? '-' : momentText(seconds)),
  input: 'input_file_id',
  output: 'output_file_id',
  errors: 'error_file_id',
}

function detailsOf(one: BatchBody): string {
  const metadata = Object.entries(one.metadata ?? {}).map(([name, text]) => [name, () => text] as const)
  const wrong = (one.errors?.data ?? []).map(
    ({ code, message, line }) => `${line === null ? '' : `line ${line}: `}${code}: ${message}\n`,
  )
  return `${linesOf({ ...DETAILS, ...Object.fromEntries(metadata) }, one)}${wrong.join('')}`
}

/** The commands by which a person ends a pause. */
const COMMANDS: Readonly<Partial<Record<Remedy, (id: string) => string>>> = {
  resume: (id) => ` torana batch resume ${id}`,
  continue: (id) => ` torana batch continue ${id}, or torana batch cancel ${id}`,
}

function pausedBy({ id, torana }: BatchBody): string {
  const code = torana?.pause?.code
  if (code === undefined) return '-'
  const { remedy, text } = remedyFor(code)
  return `${code}: ${text}${COMMANDS[remedy]?.(id) ?? ''}`
}

function momentText(seconds: number): string {
  return dayText(new Date(seconds * 1000).toISOString())
}
