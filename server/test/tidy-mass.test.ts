/** The product as a whole: what it holds rises only with a reason. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { lowerMass, measureMass, tellGrowth, type Mass } from '../generate/mass.ts'

const CEILINGS = JSON.parse(readFileSync(join(import.meta.dirname, 'tidy/mass.json'), 'utf8')) as Mass

test('lines of a room, tables, timers, routes, settings, commands and pages rise only with their ceiling', () => {
  const growth = tellGrowth(CEILINGS)
  assert.ok(growth.length === 0, `\n${growth.join('\n')}\n`)
  assert.equal(
    tellGrowth({ ...CEILINGS, tables: (CEILINGS['tables'] ?? 0) - 20 }).length,
    1,
    'a planted violation',
  )
})

test('a ceiling is lowered when there is clearly less, and never raised', () => {
  const ceilings = { 'server/src/core': 20_000, tables: 60, timers: 30, gone: 5 }
  const measured = { 'server/src/core': 19_950, tables: 58, timers: 31, 'server/src/new': 7 }
  assert.deepEqual(JSON.parse(lowerMass(ceilings, measured)), {
    'server/src/core': 20_000,
    tables: 58,
    timers: 30,
    'server/src/new': 7,
  })
})

test('what rose is told with its number and the ceiling, and so is a room that has none', () => {
  const growth = tellGrowth({ tables: 60, timers: 30 }, { tables: 61, timers: 30, 'server/src/new': 7 })
  assert.deepEqual(
    growth.map((sentence) => sentence.slice(0, sentence.indexOf(' in '))),
    ['tables: 61, at most 60', 'server/src/new: 7, at most 0'],
  )
})

test('the measure finds rooms, tables, timers, routes, settings and commands', () => {
  const measured = measureMass()
  for (const name of [
    'server/src/core',
    'console/src/pages',
    'tables',
    'timers',
    'routes of control',
    'settings',
  ])
    assert.ok((measured[name] ?? 0) > 10, name)
})
