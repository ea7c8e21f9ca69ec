/** Lets OpenAI's own libraries use files, uploads, batches and webhooks of one Torana, and prints how it went. */
import { mkdirSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startFakeProvider } from '../fake-provider/server.ts'
import {
  batchRows,
  EMBEDDINGS,
  judged,
  linesOf,
  PICTURES,
  SLOW,
  type BatchResult,
  type BatchRow,
  type Delivered,
  type World,
} from './batch-rows.ts'
import { goProgram, nodeProgram, openaiClass, pythonProgram, type Program } from './clients.ts'
import { cacheFolder } from './folders.ts'
import { asProgram, chosen, chosenClients, commonOptions, finish, inLanes, runnable } from './harness.ts'
import { openaiPlayed } from './image-kinds.ts'
import { install } from './install.ts'
import { Matrix } from './matrix.ts'
import { allCapabilities } from './rows.ts'
import { runClient } from './run-client.ts'
import { startTorana, upstreamKey, type Torana } from './torana.ts'
import { unanswered } from './verdict.ts'

const plain = { retries: true, errorClass: openaiClass }
const clients: readonly Program[] = [
  { ...plain, name: 'openai-7', toolchain: 'node', command: nodeProgram('openai-batches.js', 'openai-7') },
  { ...plain, name: 'python', toolchain: 'python', command: pythonProgram('python', 'openai_batches.py') },
  { ...plain, name: 'go', toolchain: 'go', command: goProgram('batches'), errorClass: () => 'openai.Error' },
]
const quickClients = ['openai-7']

const usage = `node lab/conformance/batches.ts [--clients openai-7,python,go] [--scenarios run,cancel] [--quick]
  --clients    of ${clients.map(({ name }) => name).join(', ')}
  --scenarios  rows of the matrix, by name
  --quick      only ${quickClients.join(' and ')}
`
const about = {
  title: 'batches',
  legend:
    '✓ is every line once with the right vector or picture, every picture sold once, and for faults the right class.',
}

/** Every row of a client takes seconds. */
const CLIENT_TIMEOUT_MS = 240_000
/** A batch of one line, and its webhook. */
const WEBHOOK_WITHIN_MS = 60_000

/** Of the project whose webhooks are looked at. */
const API_KEY = 'conformance-key-of-batches-01'
const SECRET = `whsec_${Buffer.from('a secret of the webhooks of this').toString('base64')}`

const EMBEDDING = {
  kind: 'embedding',
  embedding: { dimensions: 8, tokenizer: 'cl100k_base' },
  spaceGuard: false,
}
const models = { capabilities: { ...allCapabilities, dimensions: { min: 1, max: 8 } }, model: 'embed-w8' }

function configOf(providerUrl: string, webhookUrl: string, apiKey: string): object {
  const upstream = (traits: string): object => ({
    dialect: 'openai',
    baseUrl: `${providerUrl}/${traits}/v1`,
    apiKey: upstreamKey,
  })
  return {
    upstreams: { plain: upstream('plain'), slow: upstream('slow-500') },
    models: {
      [EMBEDDINGS]: { ...EMBEDDING, deployments: [{ ...models, upstream: 'plain' }] },
      [SLOW]: { ...EMBEDDING, deployments: [{ ...models, upstream: 'slow', limits: { concurrency: 2 } }] },
      [PICTURES]: {
        kind: 'image',
        deployments: [{ ...openaiPlayed('plain').deployment, upstream: 'plain' }],
      },
    },
    projects: {
      bulk: {
        keys: [{ name: 'sdk', secret: apiKey }],
        webhooks: [{ url: webhookUrl, secret: SECRET, private: true }],
      },
    },
  }
}

/** The first webhook that comes. */
async function startReceiver(): Promise<{
  readonly url: string
  readonly first: Promise<Pick<Delivered, 'body' | 'headers'>>
  close(): void
}> {
  const first = Promise.withResolvers<Pick<Delivered, 'body' | 'headers'>>()
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      first.resolve({ body, headers: request.headers as Record<string, string> })
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/torana`,
    first: first.promise,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A batch of one line, asked for without a library, for the webhook that it ends with. */
async function batchOfOneLine(baseUrl: string, apiKey: string): Promise<string> {
  const authorization = `Bearer ${apiKey}`
  const endpoint = '/v1/embeddings'
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new File([linesOf(endpoint, [{ model: EMBEDDINGS, input: 'one' }])], 'lines.jsonl'))
  const idOf = async (path: string, init: RequestInit): Promise<string> => {
    const answer = await fetch(`${baseUrl}${path}`, { method: 'POST', ...init })
    const { id } = (await answer.json()) as { readonly id?: string }
    if (id === undefined) throw new Error(`${path} answered ${answer.status}.`)
    return id
  }
  const file = await idOf('/files', { headers: { authorization }, body: form })
  return idOf('/batches', {
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ input_file_id: file, endpoint, completion_window: '24h' }),
  })
}

async function runOne(
  client: Program,
  rows: readonly BatchRow[],
  { baseUrl, apiKey }: Pick<Torana, 'baseUrl' | 'apiKey'>,
  world: World,
  matrix: Matrix,
): Promise<void> {
  const startedMs = performance.now()
  const waiting = new Map(rows.map((row) => [row.name, row]))
  const cases = rows.map(({ name, work, asked }) => ({
    name,
    work,
    baseUrl,
    apiKey,
    ...asked(client, world),
  }))
  const ending = await runClient<BatchResult>(client, { cases }, CLIENT_TIMEOUT_MS, (answer) => {
    const row = waiting.get(answer.case)
    if (row === undefined) throw new Error(`${client.name} answered ${answer.case}, which nobody asked.`)
    waiting.delete(answer.case)
    matrix.add(row, client, answer.case, judged(row, answer, client, world))
  })
  for (const row of waiting.values()) matrix.add(row, client, row.name, unanswered(ending))
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  console.error(`${client.name}: ${cases.length} cases in ${seconds} s`)
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: commonOptions })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const columns = runnable(chosenClients(clients, quickClients, values), values.clients)
  const rows = chosen(batchRows, values.scenarios?.split(','), 'scenarios')

  mkdirSync(cacheFolder, { recursive: true })
  await install(new Set(columns.map(({ toolchain }) => toolchain)))
  const matrix = new Matrix(
    about,
    [{ title: 'Files, uploads, batches, webhooks', rows: batchRows }],
    rows,
    columns,
  )
  const provider = await startFakeProvider()
  const receiver = await startReceiver()
  try {
    const torana = await startTorana(configOf(provider.url, receiver.url, API_KEY), 'torana-batches.log')
    try {
      const reached = { baseUrl: torana.baseUrl, apiKey: API_KEY }
      const batchId = await batchOfOneLine(torana.baseUrl, API_KEY)
      const webhook = await Promise.race([receiver.first, wait(WEBHOOK_WITHIN_MS, undefined, { ref: false })])
      if (webhook === undefined) throw new Error('No webhook came.')
      const world = { provider, delivered: { ...webhook, secret: SECRET, batchId } }
      await inLanes(columns, (client) => runOne(client, rows, reached, world, matrix))
    } finally {
      await torana.stop()
    }
  } finally {
    receiver.close()
    await provider.close()
  }
  return finish(matrix, 'matrix-batches.md')
}

await asProgram(main)
