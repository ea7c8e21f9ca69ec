/**
 * `node with-servers.ts npm run ci` runs a command beside a dedicated PostgreSQL, and ends as the command ends. Without PostgreSQL
 * the command runs without it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hasPostgres, startPostgresServer } from './servers.ts'

const [command = '', ...args] = process.argv.slice(2)
const postgres = hasPostgres ? await startPostgresServer({ waitsForDisk: false }) : undefined
if (postgres === undefined) console.log('SKIPPED: PostgreSQL, which is not on the path')
const child = spawn(command, args, {
  stdio: 'inherit',
  env: { ...process.env, ...(postgres && { TORANA_TEST_POSTGRES_URL: postgres.url }) },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const [code] = (await once(child, 'exit')) as [number | null]
await postgres?.stop()
// A command that was ended by a signal has no code, and has not succeeded.
process.exitCode = code ?? 1
