/** The one command covers every published figure, and tells a quiet machine from a busy one. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { publishedFigures } from './book/publish.ts'
import { MEASUREMENTS } from './figures-programs.ts'
import { disturbanceBetween, disturbedText, lookAtMachine, type MachineLook } from './machine.ts'
import { PROGRAMS } from './programs.ts'

/** What needs no machine: counts of the catalog, and the size of the image that a release builds. */
const OTHER_PROGRAMS = new Set(['generate', 'release-dry-run'])

test('every measured figure is written by the one command', () => {
  const isWrittenBy = (id: string, program: string): boolean =>
    MEASUREMENTS.some(
      (one) =>
        one.program === program &&
        one.writes.some((written) => (written.endsWith('.') ? id.startsWith(written) : id === written)),
    )
  const lost = Object.entries(publishedFigures()).filter(
    ([id, { program }]) => !OTHER_PROGRAMS.has(program) && !isWrittenBy(id, program),
  )
  assert.deepEqual(
    lost.map(([id]) => id),
    [],
  )
})

test('every program of the one command exists, and says how long it takes', () => {
  for (const { program, minutes } of MEASUREMENTS) {
    assert.ok(Object.hasOwn(PROGRAMS, program), program)
    assert.ok(minutes > 0, program)
  }
})

const IDLE: MachineLook = { allUs: 0, usedUs: 0, ownUs: 0, stolenUs: 0 }
const LOOKS: readonly (readonly [what: string, after: MachineLook, isQuiet: boolean])[] = [
  ['an idle machine', { allUs: 100, usedUs: 0, ownUs: 0, stolenUs: 0 }, true],
  ['its own work on all cores', { allUs: 100, usedUs: 98, ownUs: 96, stolenUs: 0 }, true],
  ['work of others', { allUs: 100, usedUs: 60, ownUs: 50, stolenUs: 0 }, false],
  ['a host that takes the cores', { allUs: 100, usedUs: 50, ownUs: 50, stolenUs: 20 }, false],
]
for (const [what, after, isQuiet] of LOOKS)
  test(`${what}: ${isQuiet ? 'quiet' : 'busy'}`, () =>
    assert.equal(disturbedText(disturbanceBetween(IDLE, after)) === undefined, isQuiet))

test('work of processes that a program started, and of theirs, is its own', () => {
  const burn = `for (const { user: from } = process.cpuUsage(); process.cpuUsage().user < from + 300_000; );`
  const nested = `require('node:child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(burn)}])`
  const before = lookAtMachine()
  execFileSync(process.execPath, ['-e', nested])
  assert.ok(lookAtMachine().ownUs - before.ownUs >= 300_000)
})

test('a look at this machine has every sum', () => {
  const { allUs, usedUs, ownUs } = lookAtMachine()
  assert.ok(allUs > usedUs && usedUs > 0 && ownUs > 0)
})
