/**
 * Batches under nodes that die. Several nodes share PostgreSQL and a folder of blobs, one of them is killed with -9 now and then
 * and started again, and at the end every line is held against what the provider really served, and against the books.
 */
import assert from 'node:assert/strict'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { openPostgres } from '#stores/postgres/database.ts'
import { rowsIn } from '#test/e2e/money/books.ts'
import { bitsOf } from '#test/support/arbitraries.ts'
import { BatchCaller, embeddingLines, type BatchAnswer, type ResultLine } from '#test/support/batches.ts'
import { startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import type { GatewayOptions } from '#test/support/gateway.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { S3_OWNER, s3Program, startS3Server, testPlace } from '#test/support/s3.ts'
import { startPostgresServer, testPostgres, type TestServer } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../../tools/fake-provider/server.ts'
import { fromBase64, vectorOf } from '../../../../tools/fake-provider/vectors.ts'

export interface KillPlan {
  readonly lines: number
  readonly nodes: number
  readonly kills: number
  /** From one to the next. */
  readonly everyMs: number
  /** How long the provider takes for a call. */
  readonly callMs: number
  /** Once in the middle, PostgreSQL, and the store of blobs, die as in a power cut, and come back after a while. */
  readonly killsPostgres?: boolean
  readonly killsBlobs?: boolean
  readonly say: (line: string) => void
}

export interface KillReport {
  readonly lines: number
  readonly completed: number
  readonly lost: number
  readonly twice: number
  readonly wrongVectors: number
  readonly callsServed: number
  readonly callsPosted: number
  readonly callsUnknown: number
  /** Calls that the provider served and the books do not know. */
  readonly callsMissing: number
  readonly seconds: number
}

const MODEL = 'killed-w8'
/** Calls that a node has under way at most. */
export const CALLS_OF_A_NODE = 32
/** How long a store is away. */
const AWAY_MS = 5000
/** After the last kill. */
const END_MS = 3_000_000

export async function runWithKills(plan: KillPlan): Promise<KillReport> {
  const { say } = plan
  const provider = await startFakeProvider()
  const postgres = plan.killsPostgres === true ? await startPostgresServer({ memory: '128MB' }) : undefined
  const s3 = plan.killsBlobs === true ? await startBlobServer() : undefined
  const { url } = postgres ?? (await testPostgres())
  const env = { DATABASE_URL: url, ...(s3?.env ?? { ASSETS_URL: `file://${temporaryFolder()}` }) }
  const options: GatewayOptions = {
    models: { [MODEL]: { on: `slow-${plan.callMs}`, price: { usdPerMillionTokens: 1 } } },
  }
  const start = (folder?: string): Promise<NodeProcess> =>
    startNodeProcess(options, provider.url, { env, ...(folder !== undefined && { folder }) })
  const nodes = await Promise.all(Array.from({ length: plan.nodes }, () => start()))
  try {
    const texts = Array.from({ length: plan.lines }, (_, index) => `text ${index}`)
    const first = new BatchCaller((nodes[0] as NodeProcess).url)
    const startedMs = performance.now()
    const { id } = await first.create(await first.upload(embeddingLines(MODEL, texts)))
    say(`${plan.lines} lines on ${plan.nodes} nodes, ${plan.kills} kills`)
    for (let kill = 0; kill < plan.kills; kill += 1) {
      await wait(plan.everyMs)
      const victim = nodes[kill % nodes.length] as NodeProcess
      victim.child.kill('SIGKILL')
      await victim.exit
      const again = await start(victim.folder)
      nodes[kill % nodes.length] = again
      const { request_counts: counts } = await new BatchCaller(again.url).get(id)
      say(`kill ${kill + 1}: ${counts.completed} of ${counts.total} lines are done`)
      if (kill === Math.floor(plan.kills / 3)) await awayFor('PostgreSQL', postgres, say)
      if (kill === Math.floor((plan.kills * 2) / 3)) await awayFor('the store of blobs', s3?.server, say)
    }
    const caller = new BatchCaller((nodes[0] as NodeProcess).url)
    const batch = await caller.ended(id, END_MS)
    const seconds = (performance.now() - startedMs) / 1000
    assert.equal(batch.status, 'completed', JSON.stringify(batch))
    const vectors = await comparedVectors(caller, batch, texts)
    await using books = new AsyncDisposableStack()
    const database = openPostgres(url, { poolSize: 2 })
    books.defer(() => database.close())
    const calls = await eventually(async () => {
      const rows = await rowsIn(database)
      const known = new Set(rows.map(({ callId }) => callId))
      const served = provider.entries().filter((entry) => entry.served && entry.model === MODEL)
      const callsMissing = served.filter(({ callId }) => !known.has(callId ?? '')).length
      assert.equal(callsMissing, 0)
      return {
        callsServed: served.length,
        callsPosted: rows.filter(({ kind }) => kind === 'post').length,
        callsUnknown: rows.filter(({ kind }) => kind === 'unknown').length,
        callsMissing,
      }
    }, 30_000)
    return { lines: plan.lines, completed: batch.request_counts.completed, ...vectors, ...calls, seconds }
  } finally {
    for (const { child } of nodes) child.kill('SIGKILL')
    await Promise.all(nodes.map(({ exit }) => exit))
    await provider.close()
    await postgres?.stop()
    await s3?.server.stop()
  }
}

async function comparedVectors(
  caller: BatchCaller,
  batch: BatchAnswer,
  texts: readonly string[],
): Promise<Pick<KillReport, 'lost' | 'twice' | 'wrongVectors'>> {
  const seen = new Set<string>()
  let twice = 0
  let wrongVectors = 0
  for await (const { custom_id, response } of linesOf(caller, batch.output_file_id)) {
    if (seen.has(custom_id)) twice += 1
    seen.add(custom_id)
    const text = texts[Number(custom_id.slice('line '.length))] as string
    const vector = fromBase64(response?.body.data[0]?.embedding ?? '')
    const expected = bitsOf(vectorOf(text, 8))
    if (!bitsOf(vector).every((bit, index) => bit === expected[index])) wrongVectors += 1
  }
  for await (const { custom_id } of linesOf(caller, batch.error_file_id)) {
    if (seen.has(custom_id)) twice += 1
    seen.add(custom_id)
  }
  return { lost: texts.length - seen.size, twice, wrongVectors }
}

/** One at a time: a million of them are no text that a process can hold. */
async function* linesOf(caller: BatchCaller, fileId: string | null): AsyncGenerator<ResultLine> {
  if (fileId === null) return
  const answer = await caller.fetch(`/files/${fileId}/content`)
  assert.equal(answer.status, 200)
  assert.ok(answer.body)
  for await (const line of createInterface({ input: Readable.fromWeb(answer.body) }))
    if (line !== '') yield JSON.parse(line) as ResultLine
}

async function startBlobServer(): Promise<{
  readonly server: TestServer
  readonly env: Readonly<Record<string, string>>
}> {
  const program = s3Program()
  assert.ok(program, 'there is no S3 server on this machine: .ci/run installs one')
  const server = await startS3Server(program)
  const { bucket, prefix, region } = testPlace(server.url)
  return {
    server,
    env: {
      ASSETS_URL: `s3://${bucket}/${prefix}?region=${region}&endpoint=${server.url}`,
      AWS_ACCESS_KEY_ID: S3_OWNER.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_OWNER.secretAccessKey,
    },
  }
}

async function awayFor(
  name: string,
  server: TestServer | undefined,
  say: (line: string) => void,
): Promise<void> {
  if (server === undefined) return
  await server.kill9()
  await wait(AWAY_MS)
  await server.restart()
  say(`${name} was killed, and was away for ${AWAY_MS / 1000} s`)
}
