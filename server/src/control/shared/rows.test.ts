import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answersOf } from './rows.ts'

async function answered(row: Record<string, unknown>): Promise<unknown> {
  const sql = { query: async () => [row] as never }
  const [answer] = await answersOf(sql, 'SELECT')
  return answer
}

const CASES: readonly (readonly [name: string, row: Record<string, unknown>, answer: unknown])[] = [
  [
    'money is decimal text under its name in dollars',
    { cost_nano: 1_500_000_000n },
    { cost_usd: '1.500000000' },
  ],
  ['unknown money stays unknown', { cost_nano: null }, { cost_usd: null }],
  ['a moment is ISO text', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
  ['a count is a number', { calls: 7n }, { calls: 7 }],
  [
    'text, booleans and JSON pass as they are',
    { a: 'x', b: true, c: { d: [1] } },
    { a: 'x', b: true, c: { d: [1] } },
  ],
  [
    'columns of a group are one object',
    { 'by.name': null, 'by.nano': 1n, 'by.cost_nano': 2n },
    { by: { name: null, usd: '0.000000001', cost_usd: '0.000000002' } },
  ],
  ['a group without a value is null', { id: 'x', 'by.name': null, 'by.at': null }, { id: 'x', by: null }],
]

for (const [name, row, answer] of CASES)
  test(`rows as answers: ${name}`, async () => assert.deepEqual(await answered(row), answer))

test('rows as answers: a sum that JSON would round is an error', async () => {
  await assert.rejects(answered({ tokens: 2n ** 53n }), /tokens does not fit/)
})
