/** `npm run generate`: every file that is made from code. `-- --check` compares instead, and names what differs. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** In this order, each in its own process: the types of the client are made from the contract that the first one writes. */
const GENERATORS = [
  'server/generate/main.ts',
  'lab/client-types/generate.ts',
  'lab/monitoring/generate.ts',
  'lab/folders/generate.ts',
  'lab/book/generate.ts',
]

for (const file of GENERATORS) {
  const path = join(import.meta.dirname, '..', file)
  const { status } = spawnSync(process.execPath, [path, ...process.argv.slice(2)], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
