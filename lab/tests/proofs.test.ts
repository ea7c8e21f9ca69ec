import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { PROGRAMS } from '../programs.ts'
import { chooseChecks } from './choice.ts'
import { BY_HAND, PROOFS, type When } from './proofs.ts'
import { ROOT } from './test-files.ts'

const scripts = Object.values(PROOFS).flatMap((jobs) => Object.values(jobs).flat())
const perChange = chooseChecks(undefined).programs
const named = new Set([...scripts, ...perChange].map((script) => script.split(' ')[2]))

test('every program of the lab runs for a change, after its merge, at night, weekly, or has a reason why not', () => {
  const homeless = Object.keys(PROGRAMS).filter(
    (name) =>
      !named.has(name) && BY_HAND[name] === undefined && BY_HAND[name.replace(/\/.*/, '/*')] === undefined,
  )
  assert.deepEqual(homeless, [], 'name them in PROOFS or BY_HAND of lab/tests/proofs.ts')
})

test('a program that runs by itself has no reason why not, and every name is one of a program', () => {
  const single = Object.keys(BY_HAND).filter((name) => !name.endsWith('*'))
  assert.deepEqual(
    single.filter((name) => named.has(name) || PROGRAMS[name] === undefined),
    [],
  )
  const programs = scripts
    .filter((script) => script.startsWith('lab -- '))
    .map((script) => script.split(' ')[2] ?? '')
  assert.deepEqual(
    programs.filter((name) => PROGRAMS[name] === undefined),
    [],
  )
})

for (const when of Object.keys(PROOFS) as When[])
  test(`the workflow ${when} starts every job of its proofs, each on a machine of its own`, () => {
    const text = readFileSync(join(ROOT, `.github/workflows/${when}.yml`), 'utf8')
    const { jobs } = parse(text) as {
      readonly jobs: {
        readonly proofs: {
          readonly strategy: { readonly 'fail-fast': boolean; readonly matrix: { readonly job: string[] } }
        }
      }
    }
    assert.deepEqual(jobs.proofs.strategy, { 'fail-fast': false, matrix: { job: Object.keys(PROOFS[when]) } })
  })
