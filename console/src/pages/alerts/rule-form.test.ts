import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rule } from '../../api/queries/alerts.ts'
import {
  conditionOf,
  formOf,
  newForm,
  quietFormOf,
  scopeOf,
  withQuiet,
  type KindFields,
} from './rule-form.ts'

const BUDGET: KindFields = {
  kind: 'budget',
  projects: true,
  fields: [{ field: 'percent', initial: [80, 100], min: 1, max: 1000 }],
}
const LATENCY: KindFields = {
  kind: 'latency',
  projects: true,
  fields: [
    { field: 'p95_ms', initial: 2000, min: 1, max: 600_000 },
    { field: 'minutes', initial: 10, min: 1, max: 60 },
  ],
}
const RULE: Rule = {
  id: 'r1',
  name: 'Night',
  on: true,
  kind: 'latency',
  condition: { p95_ms: 1500, minutes: 3 },
  scope: { project: 'studio' },
  channels: ['c1'],
  quiet: { days: [6, 7], from: '00:00', to: '24:00', zone: 'Europe/Berlin' },
  last_at: null,
  managed_by: 'store',
  managed_at: null,
}

test('a new rule begins with the usual condition, for the project that is looked at', () => {
  const form = newForm(BUDGET, [], undefined)
  assert.deepEqual(conditionOf(form.condition, BUDGET.fields), { condition: { percent: [80, 100] } })
  assert.deepEqual(scopeOf(form), { project: '*' })
  assert.deepEqual(scopeOf(newForm(BUDGET, [], 'ads')), { project: 'ads' })
  assert.deepEqual(scopeOf(newForm({ ...LATENCY, kind: 'space', projects: false }, [], 'ads')), {
    installation: true,
  })
})

test('the only channel is chosen, one of several is not', () => {
  assert.deepEqual(newForm(BUDGET, [{ id: 'c1' }], undefined).channels, ['c1'])
  assert.deepEqual(newForm(BUDGET, [{ id: 'c1' }, { id: 'c2' }], undefined).channels, [])
})

test('a rule that is opened and saved unchanged is sent as it was', () => {
  const form = formOf(RULE, LATENCY)
  assert.deepEqual(conditionOf(form.condition, LATENCY.fields), { condition: RULE.condition })
  assert.deepEqual(scopeOf(form), RULE.scope)
  assert.deepEqual(quietFormOf(form), RULE.quiet)
  assert.equal(quietFormOf(formOf({ ...RULE, quiet: null }, LATENCY)), null)
})

test('a condition that is no number names its field', () => {
  assert.deepEqual(conditionOf({ percent: 'eighty' }, BUDGET.fields), { wrong: 'percent' })
  assert.deepEqual(conditionOf({ p95_ms: 100, minutes: null }, LATENCY.fields), { wrong: 'minutes' })
})

test('hours begin with every day, whole days with the weekend', () => {
  const form = newForm(BUDGET, [], undefined)
  assert.deepEqual(withQuiet(form, 'daily').days, [1, 2, 3, 4, 5, 6, 7])
  const whole = quietFormOf({ ...withQuiet(form, 'days'), zone: 'UTC' })
  assert.deepEqual(whole, { days: [6, 7], from: '00:00', to: '24:00', zone: 'UTC' })
})
