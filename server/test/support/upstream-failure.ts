/** The failure that a call to an upstream ends with. */
import assert from 'node:assert/strict'
import { UpstreamFailure } from '#core/fault/failure.ts'

export async function upstreamFailureOf(work: Promise<unknown>): Promise<UpstreamFailure> {
  const error: unknown = await work.then(
    () => assert.fail('the call did not fail'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof UpstreamFailure, String(error))
  return error
}
