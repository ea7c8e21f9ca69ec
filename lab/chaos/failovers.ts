/** `npm run lab -- chaos/failovers`: the primaries of PostgreSQL and Redis are lost under load. Nothing may be lost with them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { publishTexts } from '../book/publish.ts'
import { missing } from './failovers/deployed.ts'
import { seconds } from './failovers/figures.ts'
import { patroniFailover } from './failovers/patroni-failover.ts'
import { sentinelFailover } from './failovers/sentinel-failover.ts'

const { values } = parseArgs({
  options: {
    /** Undefined for both. */
    only: { type: 'string' },
    times: { type: 'string', default: '2' },
    rate: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
    /** Puts the figures that pages cite into docs/figures.json. */
    write: { type: 'boolean', default: false },
  },
})

const wrongs: string[] = []
for (const { name, programs, prove } of [patroniFailover, sentinelFailover]) {
  if (values.only !== undefined && values.only !== name) continue
  const lacking = missing(programs)
  if (lacking.length > 0) {
    console.log(`SKIPPED ${name}: ${lacking.join(', ')} is not installed here`)
    continue
  }
  const folder = mkdtempSync(join(tmpdir(), `torana-${name}-`))
  const found = await prove({
    folder,
    requestsPerSecond: Number(values.rate),
    seed: Number(values.seed),
    times: Number(values.times),
    lost: (store, ms) => {
      if (values.write) publishTexts('chaos/failovers', { [`failover.${store}.seconds`]: seconds(ms) })
    },
  })
  for (const wrong of found) console.log(`wrong: ${wrong.slice(0, 1000)}`)
  wrongs.push(...found)
  if (found.length > 0 || values.keep) console.log(`logs and records are in ${folder}`)
  else rmSync(folder, { recursive: true })
}
console.log(wrongs.length === 0 ? '\nnothing is wrong' : `\n${wrongs.length} wrong`)
process.exit(wrongs.length === 0 ? 0 : 1)
