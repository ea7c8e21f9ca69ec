/** Asks one Torana for vectors of images, audio and texts: every shape of a request, every wire of an upstream, each client that can. */
import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startFakeProvider, type FakeProvider } from '../fake-provider/server.ts'
import { contentClients, quickContentClients, type ContentClient } from './content-clients.ts'
import { callsIn, casesOf, contentRows, judgeContents, type ContentRow } from './content-rows.ts'
import { contentModel, contentWires } from './content-wires.ts'
import { cacheFolder } from './folders.ts'
import { asProgram, chosen, chosenClients, commonOptions, finish, inLanes, runnable } from './harness.ts'
import { install } from './install.ts'
import type { Vectors } from './judge.ts'
import { Matrix, type Group } from './matrix.ts'
import { runClient, type ClientAnswer, type Endpoint } from './run-client.ts'
import { configFor, startTorana, upstreamKey, type Torana } from './torana.ts'
import { unanswered } from './verdict.ts'

const usage = `node lab/conformance/contents.ts [--clients by-hand,python] [--scenarios gemini,cohere/content] [--quick]
  --clients    of ${contentClients.map(({ name }) => name).join(', ')}
  --scenarios  rows of the matrix, by name: a wire, or a wire and a shape
  --quick      only ${quickContentClients.join(' and ')}
`

const groups: readonly Group<ContentRow>[] = contentWires.map((wire) => ({
  title: `Wire ${wire.name}`,
  rows: contentRows.filter((row) => row.wire === wire),
}))
const about = {
  title: 'contents',
  legend:
    "✓ is every vector equal to the oracle's and the caller's bytes upstream by their sums, or the right code with nothing sent.",
}

/** All cases of the slowest client take a fraction of this on two busy cores. */
const CLIENT_TIMEOUT_MS = 240_000

interface World {
  readonly torana: Torana | undefined
  readonly provider: FakeProvider
  readonly matrix: Matrix
}

async function runOne(client: ContentClient, rows: readonly ContentRow[], world: World): Promise<void> {
  const { provider, matrix } = world
  const startedMs = performance.now()
  const asked = await Promise.all(rows.map((row) => casesOf(row, client.name)))
  const waiting = new Map(
    asked
      .flat()
      .filter((one) => client.asks(one))
      .map((one) => [one.name, one]),
  )
  const cases = [...waiting.values()].map(({ name, row, fields }) => ({
    name,
    fields,
    width: row.wire.width,
    ...endpointOf(client, row, world),
  }))
  const answers: ClientAnswer<Vectors>[] = []
  const ending = await runClient<Vectors>(client, { cases }, CLIENT_TIMEOUT_MS, (answer) =>
    answers.push(answer),
  )
  const calls = callsIn(provider.entries())
  for (const answer of answers) {
    const found = waiting.get(answer.case)
    if (found === undefined) throw new Error(`${client.name} answered ${answer.case}, which was not asked.`)
    waiting.delete(answer.case)
    matrix.add(found.row, client, answer.case, judgeContents(client, found, answer, calls))
  }
  for (const { row, name } of waiting.values()) matrix.add(row, client, name, unanswered(ending))
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  console.error(`${client.name}: ${cases.length} cases in ${seconds} s`)
}

/** Calls are counted: probes would stand among them. */
function configOf(providerUrl: string): object {
  const models = contentWires.map((wire) => ({ models: { [wire.name]: contentModel(wire) } }))
  return configFor(models, providerUrl, { spaceGuard: false })
}

function endpointOf({ direct }: ContentClient, { wire }: ContentRow, { torana, provider }: World): Endpoint {
  if (direct !== undefined) {
    return { baseUrl: `${provider.url}/plain/${direct}`, apiKey: upstreamKey, model: wire.model }
  }
  if (torana === undefined) throw new Error('Torana was not started.')
  return { baseUrl: torana.baseUrl, apiKey: torana.apiKey, model: wire.name }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: commonOptions })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const columns = runnable(chosenClients(contentClients, quickContentClients, values), values.clients)
  const rows = chosen(contentRows, values.scenarios?.split(','), 'scenarios')
  mkdirSync(cacheFolder, { recursive: true })
  await install(new Set(columns.map(({ toolchain }) => toolchain)))
  const matrix = new Matrix(about, groups, rows, columns)
  const provider = await startFakeProvider()
  // Libraries that ask the fake provider itself need none.
  const needsTorana = columns.some(({ direct }) => direct === undefined)
  try {
    const torana = needsTorana ? await startTorana(configOf(provider.url), 'torana-contents.log') : undefined
    try {
      await inLanes(columns, (client) => runOne(client, rows, { torana, provider, matrix }))
    } finally {
      await torana?.stop()
    }
  } finally {
    await provider.close()
  }
  return finish(matrix, 'matrix-contents.md')
}

await asProgram(main)
