/** Runs every OpenAI client through one Torana against every kind of upstream, and prints how it went. */
import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startFakeProvider } from '../fake-provider/server.ts'
import { clients, quickClients, type Client } from './clients.ts'
import { callerFaults, upstreamFaults } from './failing.ts'
import { cacheFolder } from './folders.ts'
import {
  asProgram,
  chosen,
  chosenClients,
  commonOptions,
  finish,
  inLanes,
  runnable,
  wrongKey,
} from './harness.ts'
import { install } from './install.ts'
import { judge, type Vectors } from './judge.ts'
import { Matrix, type Group } from './matrix.ts'
import type { Case, Row } from './rows.ts'
import { runClient, type Endpoint } from './run-client.ts'
import { succeeding } from './succeeding.ts'
import { lists } from './texts.ts'
import { addressOf, configFor, startTorana, upstreamKey } from './torana.ts'
import { unanswered } from './verdict.ts'
import { wireFaults, wires } from './wires.ts'

const usage = `node lab/conformance/embeddings.ts [--clients openai-7,python] [--scenarios plain,nan] [--quick] [--direct]
  --clients    of ${clients.map(({ name }) => name).join(', ')}
  --scenarios  rows of the matrix, by name
  --quick      only ${quickClients.join(' and ')}
  --direct     without Torana, straight to the upstreams that should succeed: shows what Torana is needed for
`

const groups: readonly Group<Row>[] = [
  { title: 'Upstreams of the OpenAI wire', rows: succeeding },
  { title: 'Upstreams of other wires', rows: wires },
  { title: 'Faults of an upstream', rows: upstreamFaults },
  { title: 'Faults of an upstream of another wire', rows: wireFaults },
  { title: 'Faults of the caller', rows: callerFaults },
]
const about = {
  title: 'embeddings',
  legend:
    '✓ is bit-equal at full width, within 1e-6 for truncated vectors, and for faults the right class, status, code and message; ≈ is within 1e-6 at full width.',
}
const allRows = groups.flatMap(({ rows }) => rows)

/** All cases of the slowest client take half of this on two busy cores. */
const clientTimeoutMs = 180_000

type EndpointOf = (asked: Case) => Endpoint

async function runOne(
  client: Client,
  rows: readonly Row[],
  endpointOf: EndpointOf,
  matrix: Matrix,
): Promise<void> {
  const startedMs = performance.now()
  const waiting = new Map(
    rows.flatMap((row) => row.cases(client).map((asked) => [asked.name, { row, asked }])),
  )
  const cases = [...waiting.values()].map(({ asked }) => ({
    ...asked,
    ...endpointOf(asked),
    expected: undefined,
  }))
  const ending = await runClient<Vectors>(client, { lists, cases }, clientTimeoutMs, (answer) => {
    const found = waiting.get(answer.case)
    if (found === undefined) throw new Error(`${client.name} answered ${answer.case}, which nobody asked.`)
    waiting.delete(answer.case)
    matrix.add(found.row, client, answer.case, judge(client, found.asked, answer))
  })
  for (const { row, asked } of waiting.values()) matrix.add(row, client, asked.name, unanswered(ending))
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  console.error(`${client.name}: ${cases.length} cases in ${seconds} s`)
}

async function throughTorana(
  providerUrl: string,
  work: (endpointOf: EndpointOf) => Promise<void>,
): Promise<void> {
  // Calls are counted: probes would stand among them.
  const config = configFor(allRows, providerUrl, { spaceGuard: false })
  const torana = await startTorana(config, 'torana.log')
  const { baseUrl, apiKey } = torana
  try {
    await work(({ model, wrongKey: wrong }) => ({ baseUrl, model, apiKey: wrong ? wrongKey : apiKey }))
  } finally {
    await torana.stop()
  }
}

/** What a caller meets who talks to the first deployment of a model himself. */
function straightTo(providerUrl: string): EndpointOf {
  const models = new Map(allRows.flatMap((row) => Object.entries(row.models)))
  return ({ model }) => {
    const [played] = models.get(model)?.played ?? []
    if (played === undefined) throw new Error(`No upstream serves ${model}.`)
    const { model: upstreamModel } = played.deployment
    return {
      baseUrl: addressOf(played, providerUrl),
      apiKey: upstreamKey,
      model: typeof upstreamModel === 'string' ? upstreamModel : 'embed',
    }
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { ...commonOptions, direct: { type: 'boolean', default: false } },
  })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const columns = runnable(chosenClients(clients, quickClients, values), values.clients)
  const rows = chosen(values.direct ? succeeding : allRows, values.scenarios?.split(','), 'scenarios')

  mkdirSync(cacheFolder, { recursive: true })
  await install(new Set(columns.map(({ toolchain }) => toolchain)))
  const matrix = new Matrix(about, groups, rows, columns)
  const runAll = async (endpointOf: EndpointOf): Promise<void> => {
    await inLanes(columns, (client) => runOne(client, rows, endpointOf, matrix))
  }
  const provider = await startFakeProvider()
  try {
    if (values.direct) await runAll(straightTo(provider.url))
    else await throughTorana(provider.url, runAll)
  } finally {
    await provider.close()
  }
  return finish(matrix, values.direct ? undefined : 'matrix.md')
}

await asProgram(main)
