import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findProblem } from './weekly.ts'

const NOW_MS = Date.parse('2026-11-19T12:00:00Z')

for (const [ended, says] of [
  ['2026-11-19T03:00:00Z', undefined],
  ['2026-11-11T12:00:00Z', undefined],
  ['2026-11-11T11:59:59Z', /8 days ago/],
  ['', /No run/],
  ['null', /no moment/],
] as const)
  test(`a release after a weekly run that was green at "${ended}" ${says ? 'is refused, with the next step' : 'goes on'}`, () => {
    const problem = findProblem(ended, NOW_MS)
    if (says === undefined) assert.equal(problem, undefined)
    else assert.match(problem ?? '', new RegExp(`${says.source}.*Start the workflow`))
  })
