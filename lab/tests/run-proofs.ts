/**
 * `npm run after-merge`, `npm run nightly`, `npm run weekly`: the proofs that take too long for every change. `-- --job stores` runs one job of them,
 * as the workflows do on a machine each. All of them run, whichever fails.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tellVerdict } from './all-tests.ts'
import { runCommands, scriptCommand, type Ended } from './commands.ts'
import { costTable } from './cpu.ts'
import { PROOFS, type When } from './proofs.ts'

/** Twice what the longest one takes on a slow machine: the console in three browsers. */
const EACH_MS = 7_200_000

const { values, positionals } = parseArgs({ options: { job: { type: 'string' } }, allowPositionals: true })
const jobs = PROOFS[positionals[0] as When]
const names = values.job === undefined ? Object.keys(jobs) : [values.job]
const unknown = names.find((name) => jobs[name] === undefined)
if (unknown !== undefined) throw new Error(`There is no job ${unknown}, but ${Object.keys(jobs).join(', ')}.`)

// Whatever starts a whole process starts what ships.
process.env['TORANA_TEST_PROGRAM'] = join(import.meta.dirname, '../../dist/torana/bin/torana.js')
const ended: Ended[] = await run(['build'])
if (ended.every(({ isGood }) => isGood)) ended.push(...(await run(names.flatMap((name) => jobs[name] ?? []))))
console.log(`\n${costTable(ended)}\n`)
process.exitCode = tellVerdict(ended) ? 0 : 1

/** One after another: most of them start several nodes. */
function run(scripts: readonly string[]): Promise<Ended[]> {
  return runCommands(scripts.map(scriptCommand), { atOnce: 1, eachMs: EACH_MS })
}
