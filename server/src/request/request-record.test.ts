import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { faultOfFailure } from '#core/fault/of-failure.ts'
import { recordOf } from './request-record.ts'

test('the record of a failed request has its error and its cause, and that of another has neither', () => {
  const failure = new UpstreamFailure(
    'unreachable',
    'connection refused',
    { deployment: 'm/u' },
    'connect ECONNREFUSED',
  )
  const about = { requestId: 'r', route: 'embeddings', trace: undefined }
  assert.partialDeepStrictEqual(recordOf({ ...about, fault: faultOfFailure(failure, 'm', 1) }), {
    status: 502,
    fault: 'upstream_unreachable',
    faultText: 'm/u could not be reached (connection refused).',
    faultCause: 'connect ECONNREFUSED',
  })
  const { faultText, faultCause } = recordOf(about)
  assert.deepEqual([faultText, faultCause], [undefined, undefined])
})
