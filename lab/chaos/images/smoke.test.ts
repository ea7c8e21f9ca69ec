import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { seededRandom } from '../../../server/test/support/random.ts'
import { GAPS } from './gaps.ts'
import { startHouse } from './house.ts'
import { killAt } from './kill.ts'
import { TABLE } from './table.ts'

/**
 * What a successor can do: find what was kept and buy what was never bought, report that the outcome is
 * unknown, poll again.
 */
const CHOSEN = [
  '1 begun, one of three calls not noted',
  '4 reply read, nothing stored',
  '10 submit stored, no poll',
]
const JOBS = 3

test('a process that is killed amid image jobs loses no paid picture, and none is bought twice', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'torana-chaos-images-'))
  const house = await startHouse(folder)
  const random = seededRandom(1)
  try {
    const gaps = CHOSEN.flatMap((name) => GAPS.filter((gap) => gap.name === name))
    assert.equal(gaps.length, CHOSEN.length)
    const tallies = await Promise.all(
      gaps.map((gap, index) => {
        const place = index % 2 === 0 ? 'same' : 'another'
        return killAt(house, gap, { jobs: JOBS, folder: place, isHurried: true, random })
      }),
    )
    t.diagnostic(TABLE.head())
    for (const tally of tallies) t.diagnostic(TABLE.row(tally.name, tally))
    for (const { other } of tallies) assert.deepEqual(other, [], `logs are in ${folder}`)
    assert.deepEqual(
      tallies.map(({ retrieved, unknown }) => ({ retrieved, unknown })),
      [
        { retrieved: 3 * JOBS, unknown: 0 },
        { retrieved: 0, unknown: JOBS },
        { retrieved: JOBS, unknown: 0 },
      ],
    )
    rmSync(folder, { recursive: true })
  } finally {
    await house.stop()
  }
})
