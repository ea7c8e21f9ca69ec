/** `node with-servers.ts npm run ci` runs a command beside a dedicated PostgreSQL, and ends as the command ends. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startPostgresServer } from './servers.ts'

const [command = '', ...args] = process.argv.slice(2)
const postgres = await startPostgresServer({ waitsForDisk: false })
const child = spawn(command, args, {
  stdio: 'inherit',
  env: { ...process.env, TORANA_TEST_POSTGRES_URL: postgres.url },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const [code] = (await once(child, 'exit')) as [number | null]
await postgres.stop()
// A command that was ended by a signal has no code, and has not succeeded.
process.exitCode = code ?? 1
