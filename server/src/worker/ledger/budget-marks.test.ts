import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Budget } from '#core/money/budget.ts'
import type { SpendingQuestion } from '#ports/budgets.ts'
import { BudgetMarks, type BudgetMark } from './budget-marks.ts'

const clock = { nowMs: () => Date.UTC(2026, 5, 15, 12), monotonicMs: () => 0 }

function aBudget(name: string): Budget {
  return { id: `project:${name}`, limitNanoUsd: 100n, per: 'day', hard: false }
}

test('all budgets in use are asked about by one question, and each mark is told once', async () => {
  const questions: (readonly SpendingQuestion[])[] = []
  const spent = new Map([
    ['project:a', 40n],
    ['project:b', 85n],
    ['project:c', 100n],
  ])
  const reader = {
    async spentNanoUsd(asked: readonly SpendingQuestion[]) {
      questions.push(asked)
      return asked.map(({ budgetId }) => spent.get(budgetId) ?? 0n)
    },
  }
  const reported: BudgetMark[] = []
  const marks = new BudgetMarks(reader, clock, (mark) => void reported.push(mark))
  for (const name of ['a', 'b', 'c']) marks.use(aBudget(name))
  await marks.check()
  assert.equal(questions.length, 1)
  assert.deepEqual(
    reported.splice(0).map(({ budget, percent, spentNanoUsd }) => [budget.id, percent, spentNanoUsd]),
    [
      ['project:b', 80, 85n],
      ['project:c', 100, 100n],
    ],
  )
  spent.set('project:a', 50n)
  await marks.check()
  assert.deepEqual(
    reported.map(({ budget, percent }) => [budget.id, percent]),
    [['project:a', 50]],
  )
})

test('many budgets are asked about in portions, and every one of them', async () => {
  const sizes: number[] = []
  const reader = {
    async spentNanoUsd(asked: readonly SpendingQuestion[]) {
      sizes.push(asked.length)
      return asked.map(() => 100n)
    },
  }
  const reported: BudgetMark[] = []
  const marks = new BudgetMarks(reader, clock, (mark) => void reported.push(mark))
  for (let number = 0; number < 1200; number += 1) marks.use(aBudget(`p${number}`))
  await marks.check()
  assert.deepEqual(sizes, [500, 500, 200])
  assert.equal(reported.length, 1200)
})
