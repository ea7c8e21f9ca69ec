/**
 * `npm run lab -- chaos/images`: kills a gateway at each gap of an image job's life, and shows that no paid image is
 * lost or bought twice.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '../../server/test/support/random.ts'
import { GAPS } from './images/gaps.ts'
import { startHouse } from './images/house.ts'
import { killAt } from './images/kill.ts'
import { failed, TABLE, together } from './images/table.ts'
import { clientsLeave, diskFull, storeDies } from './images/troubles.ts'
import type { Tally } from './images/witnesses.ts'

const { values } = parseArgs({
  options: {
    /** Kills at each gap. */
    rounds: { type: 'string', default: '20' },
    /** Selects gaps whose name contains it. */
    only: { type: 'string', default: '' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    /** Processes that are killed concurrently. */
    lanes: { type: 'string', default: '3' },
    keep: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)
const random = seededRandom(Number(values.seed))

const folder = mkdtempSync(join(tmpdir(), 'torana-chaos-images-'))
const house = await startHouse(folder)
const tallies: Tally[] = []
console.log(`seed ${values.seed}, ${rounds} kills at each gap`)
console.log(TABLE.head())

function report(tally: Tally): void {
  tallies.push(tally)
  console.log(TABLE.row(tally.name, tally))
}

type Work = () => Promise<Tally>
const works: Work[] = GAPS.filter(({ name }) => name.includes(values.only)).map((gap) => async () => {
  const half = Math.ceil(rounds / 2)
  const [same, another] = await Promise.all([
    killAt(house, gap, { jobs: half, folder: 'same', random }).catch((error) => failed(gap.name, error)),
    killAt(house, gap, { jobs: rounds - half, folder: 'another', random }).catch((error) =>
      failed(gap.name, error),
    ),
  ])
  return together(gap.name, [same, another])
})

await Promise.all(
  Array.from({ length: Number(values.lanes) }, async () => {
    for (let work = works.shift(); work; work = works.shift()) {
      report(await work())
    }
  }),
)
const others: readonly (readonly [string, () => Promise<Tally | undefined>])[] = [
  ['PostgreSQL away for 4 s', () => storeDies(house, { jobs: rounds * 2, awayMs: 4000 }, random)],
  // Longer than a lease.
  ['PostgreSQL away for 20 s', () => storeDies(house, { jobs: rounds * 2, awayMs: 20_000 }, random)],
  ['disk full', () => diskFull(house, rounds)],
  ['clients leave', () => clientsLeave(house, rounds * 5, random)],
]
for (const [name, work] of others) {
  if (!name.includes(values.only)) continue
  const tally = await work().catch((error: unknown) => failed(name, error))
  if (tally === undefined) console.log(`SKIPPED ${name}: no file system can be mounted here`)
  else report(tally)
}
await house.stop()
console.log(TABLE.total(tallies))
const wrongs = tallies.flatMap(({ name, other }) => other.map((what) => `${name}: ${what}`))
for (const wrong of wrongs) console.log(wrong)
if (wrongs.length > 0 || values.keep) console.log(`logs, ledger and pictures are in ${folder}`)
else rmSync(folder, { recursive: true })
process.exitCode = wrongs.length > 0 ? 1 : 0
