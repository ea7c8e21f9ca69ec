import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestDetail } from '../../api/queries/requests.ts'
import { moneyRows, moneySum } from './money-lines.ts'

type Line = RequestDetail['money']['lines'][number]

const LINE: Line = {
  attempt: 1,
  call_id: '01a1e008-2f4c-7d1e-b0aa-4c27d0be7c1b',
  deployment: 'small/openai',
  kind: 'post',
  of: 'tokens',
  count: 14_210,
  price_usd: '0.020000000',
  per: 1_000_000,
  amount_usd: '0.000284200',
  counted_by: 'upstream',
  at: '2026-11-15T16:31:07.359Z',
}
const call = (attempt: number, deployment: string, status: number | null) =>
  ({
    attempt,
    deployment,
    status,
    outcome: status === null ? 'ok' : 'rateLimited',
  }) as RequestDetail['attempts'][number]

function request(lines: readonly Line[], postedUsd: string): RequestDetail {
  return {
    model: 'small',
    tokens: 32_596,
    images: null,
    attempts: [call(1, 'small/openai', null), call(0, 'small/azure-eu', 429)],
    money: {
      reserved_usd: '0.001346488',
      reserved_from: ['project:search'],
      lines: [...lines],
      posted_usd: postedUsd,
      returned_usd: '0.001062288',
      saved_usd: '0.001178220',
    },
  } as unknown as RequestDetail
}

test('each call has its line, in order, also one that was not charged', () => {
  const cache = {
    ...LINE,
    attempt: 2,
    deployment: 'small/cache',
    of: 'hits' as const,
    count: 412,
    price_usd: null,
    amount_usd: '0.000000000',
  }
  const rows = moneyRows(request([LINE, cache], '0.000284200'))
  assert.deepEqual(
    rows.map(({ name, counted, price, amount }) => [name, counted, price, amount]),
    [
      ['Maximum cost', '', '', '$0.001346488'],
      ['Call 1, azure-eu', '–', '–', undefined],
      ['Call 2, openai', '14,210 tokens', '0.02', '$0.000284200'],
      ['Cache', '412 texts', '–', '$0.000000000'],
    ],
  )
  // A status is no quantity.
  assert.deepEqual(
    rows.map(({ status }) => status),
    [undefined, 'HTTP 429', undefined, undefined],
  )
  assert.equal(rows.at(-1)?.saved, 'saved $0.001178220')
})

test('lines that do not sum to what was posted are said to be wrong', () => {
  assert.equal(moneySum(request([LINE], '0.000284200')).wrong, undefined)
  assert.equal(moneySum(request([LINE], '0.000284201')).wrong, 'line items total $0.000284200')
})
