/** The same requests to a node whose every call has a rider and to one without: answers and ledger must be equal. */
import { setTimeout as wait } from 'node:timers/promises'
import { withDatabase } from '../../chaos/ledger-checks.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import type { Report } from '../../report.ts'
import type { Workplace } from '../../workplace.ts'
import { batchAnswers } from './batches.ts'
import { post, startNode, type Answered } from './node.ts'
import { askedModels, type AskedModel } from './requests.ts'

/** Longer than any run: a ride only with the first call of a deployment. */
const NEVER_MS = 3_600_000
/** Between requests that share a call, so that they arrive in their order. */
const APART_MS = 15
/** Headers that differ from request to request; and the number of calls, of which one that is refused with its rider needs another. */
const PASSING = new Set(['x-request-id', 'date', 'server-timing', 'x-torana-attempts'])
const WIDTH = 64
const BATCH_LINES = 60
/** Of which the provider counts each text by itself, or Torana does. */
const BATCHED = new Set([
  'floats',
  'base64',
  'native-dimensions',
  'eight-inputs',
  'one-text',
  'no-usage',
  'user',
])

interface LedgerSum {
  readonly model: string
  readonly calls: string
  readonly tokens: string
  readonly nano: string
}

interface AskedNode {
  readonly name: string
  readonly url: string
  readonly sums: () => Promise<readonly LedgerSum[]>
  readonly stop: () => Promise<unknown>
}

export async function compareAnswers(requests: number, place: Workplace, report: Report): Promise<void> {
  const provider = await startFakeProvider()
  const models = await askedModels()
  const nodes = await Promise.all([
    askedNode('with', models, { place, providerUrl: provider.url, rideIntervalMs: 1 }),
    askedNode('without', models, { place, providerUrl: provider.url, rideIntervalMs: NEVER_MS }),
  ])
  const differing: string[] = []
  let [asked, refused] = [0, 0]
  for (let number = 0; asked < requests; number += 1)
    for (const { name, groups } of models) {
      const bodies = groups(number).map((fields) => ({ model: name, ...fields }))
      const [own, other] = await Promise.all(nodes.map(({ url }) => answersTo(url, bodies)))
      for (const [index, body] of bodies.entries()) {
        asked += 1
        const difference = differenceOf(own?.[index] as Answered, other?.[index] as Answered)
        if (difference !== undefined) differing.push(`${JSON.stringify(body).slice(0, 200)}: ${difference}`)
        if (own?.[index]?.status !== 200) refused += 1
      }
      // Rides have an interval of a millisecond.
      await wait(2)
    }
  const lines = batchLines(models)
  const [own, other] = await Promise.all(nodes.map(({ url }) => batchAnswers(url, lines)))
  for (const [index, line] of (own ?? []).entries())
    if (line !== other?.[index]) differing.push(`in a batch: ${firstDifference(line, other?.[index] ?? '')}`)
  if (own?.length !== lines.length)
    differing.push(`${own?.length} of ${lines.length} lines of the batch were answered`)
  const [sums, otherSums] = await Promise.all(
    nodes.map(async ({ sums: read, stop }) => {
      await stop()
      return read()
    }),
  )
  const served = provider.entries().filter((entry) => entry.served)
  await provider.close()
  const inputs = (word: string): number =>
    served
      .filter(({ scenario }) => scenario.endsWith(`key-${word}`))
      .reduce((sum, one) => sum + one.inputs, 0)
  for (const one of differing) process.stdout.write(`${one}\n`)
  report.figure('requests, and those that were refused', `${asked}, ${refused}`)
  report.figure('lines of a batch', String(lines.length))
  report.figure('inputs sent with rides, and without', `${inputs('with')}, ${inputs('without')}`)
  report.aim('answers that differ', String(differing.length), '0', differing.length === 0)
  const wrongSums = (sums ?? []).filter(
    (sum, index) => JSON.stringify(sum) !== JSON.stringify(otherSums?.[index]),
  )
  for (const sum of wrongSums)
    process.stdout.write(
      `${JSON.stringify(sum)} instead of ${JSON.stringify(otherSums?.find(({ model }) => model === sum.model))}\n`,
    )
  const areEqual = wrongSums.length === 0 && sums?.length === otherSums?.length
  report.aim("models whose callers' ledger differs", String(wrongSums.length), '0', areEqual)
}

async function askedNode(
  name: string,
  models: readonly AskedModel[],
  { place, providerUrl, rideIntervalMs }: { place: Workplace; providerUrl: string; rideIntervalMs: number },
): Promise<AskedNode> {
  const database = await place.postgres()
  const upstreams = models.map(({ name: model, traits, wire = 'v1', upstream = { dialect: 'openai' } }) => [
    model,
    {
      ...upstream,
      baseUrl: `${providerUrl}/${traits}+key-${name}/${wire}`,
      apiKey: 'sk-upstream-0123456789',
    },
  ])
  const torana = await startNode({
    place,
    name,
    databaseUrl: database.url,
    upstreams: Object.fromEntries(upstreams),
    models: Object.fromEntries(models.map((model) => [model.name, entryOf(model)])),
    limits: { rideIntervalMs },
  })
  const sums = (): Promise<readonly LedgerSum[]> =>
    withDatabase(database.url, async (client) => {
      const { rows } = await client.query<LedgerSum>(
        `SELECT model, count(*)::text AS calls, sum(tokens)::text AS tokens, sum(amount_nano)::text AS nano
         FROM usage_events WHERE project = 'app' AND kind = 'post' GROUP BY model ORDER BY model`,
      )
      return rows
    })
  return { name, url: torana.url, sums, stop: () => torana.stop() }
}

function entryOf({ name, model = `embed-w${WIDTH}`, capabilities, entry = {} }: AskedModel): object {
  const { cache, microBatch, ...facts } = entry as { readonly cache?: object; readonly microBatch?: object }
  return {
    kind: 'embedding',
    embedding: { dimensions: WIDTH, ...facts },
    price: { usdPerMillionTokens: 0.13 },
    ...(cache && { cache }),
    ...(microBatch && { microBatch }),
    deployments: [{ upstream: name, model, ...(capabilities && { capabilities }) }],
  }
}

/** Texts of models whose vectors are made again in the same calls, however their lines are grouped. */
function batchLines(models: readonly AskedModel[]): readonly object[] {
  const plain = models.filter(({ name }) => BATCHED.has(name))
  return Array.from({ length: BATCH_LINES }, (_, number) => {
    const { name = '', groups } = plain[number % plain.length] ?? {}
    return { model: name, ...groups?.(1000 + number)[0] }
  })
}

function answersTo(url: string, bodies: readonly object[]): Promise<readonly Answered[]> {
  return Promise.all(
    bodies.map(async (body, index) => {
      await wait(index * APART_MS)
      return post(url, body)
    }),
  )
}

/** What a caller could tell apart. */
function differenceOf(own: Answered, other: Answered): string | undefined {
  const [one, two] = [textOf(own), textOf(other)]
  return one === two ? undefined : firstDifference(one, two)
}

function firstDifference(one: string, two: string): string {
  let at = 0
  while (at < one.length && one[at] === two[at]) at += 1
  return `${one.slice(Math.max(0, at - 80), at + 160)} instead of ${two.slice(Math.max(0, at - 80), at + 160)}`
}

const ID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|fake-\d+|127\.0\.0\.1:\d+/g

function textOf({ status, headers, body }: Answered): string {
  const kept = [...headers]
    .filter(([name]) => !PASSING.has(name))
    .map(([name, value]) => `${name}: ${value}\n`)
  return `${status}\n${kept.join('')}\n${body}`.replaceAll(ID, 'id')
}
