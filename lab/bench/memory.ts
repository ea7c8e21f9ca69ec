/**
 * Memory of a node at rest, with PostgreSQL and with the built-in database, and of the demo model after its first text.
 * `npm run lab -- bench/memory`; `-- --write` puts it into docs/figures.json.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startPostgresServer } from '../../server/test/support/servers.ts'
import { publishTexts } from '../book/publish.ts'
import { stopAll } from '../processes.ts'
import { print } from '../report.ts'
import { startTorana } from '../torana.ts'
import { familyOf, memoryMegabytes } from './peers/family.ts'

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } },
})
/** After this the work of a start has ended. */
const REST_MS = options.quick ? 1000 : 15_000
const KEY = `memory-${'0123456789abcdef'.repeat(2)}`
const ENV = { TORANA_BOOTSTRAP_KEY: KEY, TORANA_SECRET: 'a-secret-of-the-bench-0123456789' }

const folder = mkdtempSync(join(tmpdir(), 'torana-memory-'))
const postgres = await startPostgresServer()
try {
  const withPostgres = await restOf('postgres', { ...ENV, DATABASE_URL: postgres.url })
  const builtin = await restOf('builtin', ENV)
  const texts = {
    'memory.node.postgres': megabytes(withPostgres.restMegabytes),
    'memory.node.builtin': megabytes(builtin.restMegabytes),
    'memory.demo': megabytes(builtin.demoMegabytes - builtin.restMegabytes),
  }
  print([['figure', 'memory'], ...Object.entries(texts)])
  if (options.write) publishTexts('bench/memory', texts)
} finally {
  await stopAll()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function restOf(name: string, env: Readonly<Record<string, string>>) {
  const { pid, url } = await startTorana({ folder, name, env })
  await wait(REST_MS)
  const restMegabytes = memoryMegabytes(familyOf(pid))
  const answer = await fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-embed', input: 'a gate of brass' }),
  })
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
  const demoMegabytes = memoryMegabytes(familyOf(pid))
  await stopAll(pid)
  return { restMegabytes, demoMegabytes }
}

function megabytes(value: number): string {
  return `${Math.round(value)} MB`
}
