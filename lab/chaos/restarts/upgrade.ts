/** A rolling upgrade across a migration, and back again, behind HAProxy. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startBatchBeside } from './batch-beside.ts'
import { outcomeOf, startRestartsHouse, type Outcome, type RestartsHouse } from './restarts-house.ts'
import { BALANCERS, startBalancer } from './balancers.ts'
import { restartOne, startNodes, type RestartOptions } from './rolling.ts'
import { startSteadyLoad } from './steady-load.ts'
import { REPOSITORY } from '../../torana.ts'
import { makeNextVersion, makeVersionOf, programOf } from './versions.ts'

const SAYS_NEWER = 'the database schema is newer than this node; the node continues'

/** From this source to one with a further migration; or from an earlier commit to this source. */
export async function upgradeAndBack({ before }: RestartOptions): Promise<Outcome> {
  const house = await startRestartsHouse()
  const older = before === undefined ? REPOSITORY : makeVersionOf(before, house.folder)
  const newer = before === undefined ? makeNextVersion(house.folder) : REPOSITORY
  const nodes = await startNodes(house, { source: older })
  const migrationsBefore = await migrationsIn(house)
  const balancer = await startBalancer('haproxy', house, nodes)
  const { backMs } = BALANCERS.haproxy
  const load = startSteadyLoad(balancer.url)
  const batch = knowsBatches(older) ? await startBatchBeside(balancer.url) : undefined
  await wait(backMs)
  const wrongs: string[] = []
  for (const [what, source] of [
    ['upgrade', newer],
    ['rollback', older],
  ] as const)
    for (const node of nodes) {
      node.program = programOf(source)
      wrongs.push(...(await restartOne(node, `${what} of ${node.name}`, load, backMs)))
    }
  await load.stop()
  wrongs.push(...((await batch?.ended()) ?? []))
  const migrations = await migrationsIn(house)
  if (migrations <= migrationsBefore) wrongs.push('the newer version made no migration')
  for (const { name, logFile } of nodes)
    if (!readFileSync(logFile, 'utf8').includes(SAYS_NEWER))
      wrongs.push(`${name} does not say that the schema is newer`)
  const title = `a rolling upgrade of ${nodes.length} processes behind HAProxy from ${migrationsBefore} to ${migrations} migrations, and back`
  const outcome = await outcomeOf(title, load, house, wrongs)
  await Promise.all(nodes.map((node) => node.stop()))
  balancer.stop()
  await house.close()
  return outcome
}

/** Whether the version has files and batches. */
function knowsBatches(source: string): boolean {
  return existsSync(join(source, 'server/src/http/gateway/batches'))
}

async function migrationsIn({ database }: RestartsHouse): Promise<number> {
  const [row] = await database.query<{ count: bigint }>('SELECT count(*) AS count FROM torana_migrations')
  return Number(row?.count ?? 0)
}
