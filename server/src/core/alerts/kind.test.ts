import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALERT_KINDS, conditionText, initialCondition, KIND_TABLE, type AlertKind } from './kind.ts'

const fieldsIn = (sentence: string): readonly string[] =>
  [...sentence.matchAll(/\{(\w+)%?\}/g)].map(([, field = '']) => field)

for (const kind of ALERT_KINDS)
  test(`the sentences about a condition of ${kind} name its fields, and the page names all of them`, () => {
    const { fields, short, long } = KIND_TABLE[kind]
    assert.deepEqual(
      fieldsIn(short).filter((field) => fields[field] === undefined),
      [],
    )
    assert.deepEqual(fieldsIn(long).toSorted(), Object.keys(fields).toSorted())
  })

const SENTENCES: readonly (readonly [AlertKind, string])[] = [
  ['budget', '80%, 100%'],
  ['space', 'immediately'],
  ['error_rate', 'over 5% for 5 min'],
  ['latency', 'p95 over 2000 ms for 10 min'],
]
for (const [kind, sentence] of SENTENCES)
  test(`a condition of ${kind} reads “${sentence}”`, () =>
    assert.equal(conditionText(kind, initialCondition(kind)), sentence))
