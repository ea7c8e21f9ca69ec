/** Several nodes that share PostgreSQL and a blob store, a provider behind them, and ways to kill each of these. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { BatchCaller } from '../../../server/test/support/batches.ts'
import { startNodeProcess, type NodeProcess } from '../../../server/test/support/cluster.ts'
import type { GatewayOptions } from '../../../server/test/support/gateway.ts'
import { eventually, temporaryFolder } from '../../../server/test/support/process.ts'
import { s3Program, s3Variables, startS3Server } from '../../../server/test/support/s3.ts'
import { startPostgresServer, testPostgres, type TestServer } from '../../../server/test/support/servers.ts'
import { killFor } from '../faults.ts'
import { startFakeProvider, type FakeProvider } from '../../fake-provider/server.ts'

export interface KillPlan {
  readonly lines: number
  /** Lines hold an image each, with a text in every third. */
  readonly hasImages?: boolean
  readonly nodes: number
  readonly kills: number
  /** Longest interval between kills: each one comes earlier once its share of the lines is done, however quick the machine is. */
  readonly everyMs: number
  /** Duration of a call at the provider. */
  readonly callMs: number
  /** Once in the middle, PostgreSQL and the blob store die as in a power cut, and come back after a while. */
  readonly killsPostgres?: boolean
  readonly killsBlobs?: boolean
  readonly say: (line: string) => void
}

export interface Stage extends AsyncDisposable {
  readonly provider: FakeProvider
  readonly databaseUrl: string
  /** Asks a living node. */
  caller(): BatchCaller
  /** Kills as planned while this batch runs. Returns how many kills came before its last line was done. */
  killAsPlanned(batchId: string): Promise<number>
  /** Kills all nodes at the same moment, and starts them again. */
  restartAll(): Promise<void>
}

/** Between two looks at a batch: short against the second or so in which a quick machine does a share of the lines. */
const LOOK_MS = 100
/** Duration of a store's outage. */
const OUTAGE_MS = 5000

export async function startStage(plan: KillPlan, options: GatewayOptions): Promise<Stage> {
  const { say } = plan
  await using started = new AsyncDisposableStack()
  const provider = await startFakeProvider()
  started.defer(() => provider.close())
  const postgres = plan.killsPostgres === true ? await startPostgresServer({ memory: '128MB' }) : undefined
  started.defer(() => postgres?.stop())
  const s3 = plan.killsBlobs === true ? await startBlobServer() : undefined
  started.defer(() => s3?.server.stop())
  const { url: databaseUrl } = postgres ?? (await testPostgres())
  const env = { DATABASE_URL: databaseUrl, ...(s3?.env ?? { ASSETS_URL: `file://${temporaryFolder()}` }) }
  const start = (folder?: string): Promise<NodeProcess> =>
    startNodeProcess(options, provider.url, { env, ...(folder !== undefined && { folder }) })
  let nodes: NodeProcess[] = []
  const killNodes = async (): Promise<void> => {
    for (const { child } of nodes) child.kill('SIGKILL')
    await Promise.all(nodes.map(({ exit }) => exit))
  }
  started.defer(killNodes)
  nodes = await Promise.all(Array.from({ length: plan.nodes }, () => start()))
  const life = started.move()

  const caller = (): BatchCaller => new BatchCaller((nodes[0] as NodeProcess).url)
  return {
    provider,
    databaseUrl,
    caller,
    async killAsPlanned(batchId) {
      say(`${plan.lines} lines on ${plan.nodes} nodes, ${plan.kills} kills`)
      let inProgress = 0
      for (let kill = 0; kill < plan.kills; kill += 1) {
        const done = await doneWhenDue(caller(), batchId, {
          share: (kill + 1) / (plan.kills + 1),
          withinMs: plan.everyMs,
        })
        const place = randomInt(nodes.length)
        const victim = nodes[place] as NodeProcess
        victim.child.kill('SIGKILL')
        if (done < plan.lines) inProgress += 1
        say(`kill ${kill + 1}, of node ${place + 1}: ${done} of ${plan.lines} lines are done`)
        await victim.exit
        nodes[place] = await start(victim.folder)
        if (kill === Math.floor(plan.kills / 3)) await awayFor('PostgreSQL', postgres, say)
        if (kill === Math.floor((plan.kills * 2) / 3)) await awayFor('the store of blobs', s3?.server, say)
      }
      return inProgress
    },
    async restartAll() {
      await killNodes()
      nodes = await Promise.all(nodes.map(({ folder }) => start(folder)))
    },
    [Symbol.asyncDispose]: () => life.disposeAsync(),
  }
}

/** Waits until this share of the lines is done, or the time is over. Returns the lines that are done. */
async function doneWhenDue(
  caller: BatchCaller,
  batchId: string,
  { share, withinMs }: { readonly share: number; readonly withinMs: number },
): Promise<number> {
  const endMs = performance.now() + withinMs
  for (;;) {
    // A node answers again a moment after PostgreSQL does.
    const { completed, failed, total } = (await eventually(() => caller.get(batchId))).request_counts
    const done = completed + failed
    // A batch that is still being read has no lines yet.
    if (performance.now() >= endMs || (total > 0 && done >= total * share)) return done
    await wait(LOOK_MS)
  }
}

async function startBlobServer(): Promise<{
  readonly server: TestServer
  readonly env: Readonly<Record<string, string>>
}> {
  const program = s3Program()
  assert.ok(program, 'there is no S3 server on this machine: .ci/run installs one')
  const server = await startS3Server(program)
  return { server, env: s3Variables(server.url) }
}

async function awayFor(
  name: string,
  server: TestServer | undefined,
  say: (line: string) => void,
): Promise<void> {
  if (server === undefined) return
  await killFor(server, OUTAGE_MS)
  say(`${name} was killed, and was away for ${OUTAGE_MS / 1000} s`)
}
