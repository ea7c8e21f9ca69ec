/** `npm run lab -- check/suspects`: 20 runs; `--quick`: 3; `--runs 5`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseArgs } from 'node:util'
import { openPostgres } from '../../../server/src/stores/postgres/database.ts'
import { testPostgres } from '../../../server/test/support/servers.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { runOnce, type RunReport } from './run.ts'
import { Nodes } from './stage.ts'

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '20' }, quick: { type: 'boolean', default: false } },
})
const runs = values.quick ? 3 : Number(values.runs)
const NODES = 2
// Each start of a node listens for the end of this process.
process.setMaxListeners(0)

test('the listed suspect vectors are those that callers got', async () => {
  await using started = new AsyncDisposableStack()
  const provider = await startFakeProvider()
  started.defer(() => provider.close())
  const { url } = await testPostgres()
  const database = started.adopt(openPostgres(url, { poolSize: 2 }), (one) => one.close())
  const nodes = started.adopt(new Nodes(provider.url, url), (one) => one.stop())
  await nodes.start(NODES)
  const reports: RunReport[] = []
  for (let run = 1; run <= runs; run += 1) {
    const report = await runOnce(run, { nodes, provider, database })
    console.log(JSON.stringify(report))
    reports.push(report)
  }
  console.table(reports)
  assert.deepEqual(
    reports.filter(({ missing, wrong }) => missing + wrong > 0),
    [],
  )
})
