/** `torana batch`: batches of the key's project, by the public API. */
import { existsSync, statSync } from 'node:fs'
import { appendFile, rename } from 'node:fs/promises'
import { BatchesClient, type BatchBody } from '../client/batches-client.ts'
import { CommandProblem } from '../client/command-problem.ts'
import { command, group, Misuse } from '../command/command.ts'
import { table } from '../command/table.ts'
import { batchRun } from './batch-run.ts'
import { LIMIT, limitOf } from './query.ts'
import { dayText, shownUsd } from './terms.ts'

interface ContinuedBatch {
  readonly id: string
  readonly state: string
  readonly project: string
}

const BATCH = { name: '<batch>', says: 'the id of a batch, such as batch_01a1…' }

const ls = command({
  name: 'ls',
  summary: 'list batches of the project, newest first',
  options: { limit: LIMIT },
  reach: 'gateway',
  async run({ gateway, text }) {
    const found = await new BatchesClient(await gateway()).list(limitOf(text('limit')))
    return { data: found, text: listing(found) }
  },
})

const show = command({
  name: 'show',
  summary: 'show one batch: how far it is, what it cost, what went wrong',
  arguments: [BATCH],
  reach: 'gateway',
  async run({ gateway, given: [id = ''] }) {
    const found = await new BatchesClient(await gateway()).get(id)
    return { data: found, text: details(found) }
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
    const path = `/batches/${encodeURIComponent(id)}/continue`
    const found = await (await control()).ask<ContinuedBatch>('POST', path, {})
    const goesOn = found.state === 'in_progress'
    const note = goesOn ? `goes on under the terms of ${found.project}` : `is ${found.state}`
    return { data: found, note: `${found.id} ${note}.` }
  },
})

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
    for await (const piece of client.content(file, has)) await appendFile(part, piece)
    if (existsSync(part)) await rename(part, out)
    const { size } = statSync(out)
    return { data: { file: out, bytes: size }, note: `${out}: ${size} bytes.` }
  },
})

export const batch = group({
  name: 'batch',
  bare: 'ls',
  summary: 'make vectors of a corpus; list, show, cancel, continue and download batches',
  subcommands: [batchRun, ls, show, cancel, goOn, download],
})

function listing(found: readonly BatchBody[]): string {
  if (found.length === 0) return 'There are no batches.\n'
  const head = ['created', 'status', 'model', 'done', 'failed', 'of', 'cost', 'id']
  const rows = found.map((one) => {
    const { completed, failed, total } = one.request_counts
    const status = one.torana?.pause ? `paused: ${one.torana.pause.code}` : one.status
    return [
      momentText(one.created_at),
      status,
      one.model ?? '-',
      String(completed),
      String(failed),
      String(total),
      costText(one),
      one.id,
    ]
  })
  return table([head, ...rows])
}

function details(one: BatchBody): string {
  const { completed, failed, total } = one.request_counts
  const facts: readonly (readonly [string, string])[] = [
    ['batch', one.id],
    ['status', one.status],
    ['paused by', pausedBy(one)],
    ...(one.torana?.cancelled_because == null
      ? []
      : [['cancelled by', `Torana: ${one.torana.cancelled_because}`] as const]),
    ['endpoint', one.endpoint],
    ['model', one.model ?? '-'],
    ['requests', `${completed} completed, ${failed} failed, of ${total}`],
    ['tokens', String(one.usage?.total_tokens ?? '-')],
    ['cost', costText(one)],
    ['created', momentText(one.created_at)],
    ['window ends', one.expires_at === null ? '-' : momentText(one.expires_at)],
    ['input', one.input_file_id],
    ['output', one.output_file_id ?? '-'],
    ['errors', one.error_file_id ?? '-'],
    ...Object.entries(one.metadata ?? {}),
  ]
  const wrong = (one.errors?.data ?? []).map(
    ({ code, message, line }) => `${line === null ? '' : `line ${line}: `}${code}: ${message}\n`,
  )
  return `${table(facts)}${wrong.join('')}`
}

/** With what a person can do about it. */
function pausedBy({ id, torana }: BatchBody): string {
  const code = torana?.pause?.code
  if (code !== 'key_revoked' && code !== 'key_expired') return code ?? '-'
  return `${code}: torana batch continue ${id}, or torana batch cancel ${id}`
}

function momentText(seconds: number): string {
  return dayText(new Date(seconds * 1000).toISOString())
}

function costText({ torana }: BatchBody): string {
  return torana === undefined ? '-' : shownUsd(torana.cost_usd)
}
