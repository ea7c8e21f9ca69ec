/** `npm run chaos:restarts`: rolling restarts and replaced workers under load. Not one request may fail. */
import { parseArgs } from 'node:util'
import { replaceWorkers, rollProcesses } from './rolling.ts'

const { values } = parseArgs({
  options: {
    /** Undefined: all. */
    only: { type: 'string' },
    times: { type: 'string', default: '20' },
  },
})
const PROOFS = { processes: rollProcesses, workers: replaceWorkers }

const wrongs: string[] = []
for (const [name, prove] of Object.entries(PROOFS)) {
  if (values.only !== undefined && values.only !== name) continue
  const outcome = await prove(Number(values.times))
  wrongs.push(...outcome.wrongs)
}
console.log(wrongs.length === 0 ? '\nnothing is wrong' : `\n${wrongs.length} wrong`)
process.exit(wrongs.length === 0 ? 0 : 1)
