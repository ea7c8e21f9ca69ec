/** Shared by every error of the gateway, whichever test provokes it. */
import assert from 'node:assert/strict'
import { type FaultCode } from '#core/fault/fault.ts'
import { FAULTS } from '#core/fault/table.ts'
import { UPSTREAM_KEY, type Asked } from './gateway.ts'

export interface ExpectedFault {
  readonly param?: string | null
  readonly words?: RegExp
  /** The same request would fail again, though the code may mean an accident. */
  readonly isLasting?: boolean
}

export function assertFault(answer: Asked, code: FaultCode, expected: ExpectedFault = {}): void {
  const { param, words, isLasting = false } = expected
  const { status, type, retry } = FAULTS[code]
  const { error } = answer.body
  assert.ok(error, answer.text)
  assert.deepEqual([error.code, answer.status, error.type], [code, status, type], answer.text)
  if (param !== undefined) assert.equal(error.param, param)
  if (words !== undefined) assert.match(error.message, words)
  assert.ok(error.param === null || typeof error.param === 'string')
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(answer.headers.get('x-request-id'), error.request_id)
  assert.match(error.request_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.match(error.doc_url, new RegExp(`^http.*/docs/errors/${code}$`))
  assert.equal(answer.headers.get('x-should-retry'), String(retry && !isLasting))
  assert.ok(!answer.text.includes(UPSTREAM_KEY), 'the upstream’s credential is in the answer')
}
