import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FaultCode } from './fault.ts'
import { PARTIES, partyOf, type Party } from './party.ts'
import { FAULTS } from './table.ts'

/** Codes that a request can end with. */
const AT_FAULT: Readonly<Record<Party, readonly FaultCode[]>> = {
  caller: [
    'address_not_allowed',
    'ambiguous_input',
    'body_too_large',
    'budget_exhausted',
    'budget_reserved',
    'client_closed_request',
    'content_policy_violation',
    'empty_input',
    'expectation_failed',
    'headers_too_large',
    'idempotency_key_reused',
    'input_too_long',
    'invalid_api_key',
    'invalid_image_file',
    'invalid_input',
    'invalid_json',
    'invalid_media',
    'invalid_parameter',
    'key_expired',
    'key_revoked',
    'malformed_request',
    'media_too_large',
    'media_unreachable',
    'method_not_allowed',
    'missing_api_key',
    'missing_parameter',
    'model_mismatch',
    'model_not_allowed',
    'model_not_found',
    'model_retired',
    'not_found',
    'part_unsupported',
    'parts_not_fusible',
    'provenance_not_kept',
    'rate_limit_exceeded',
    'request_exceeds_rate_limit',
    'request_not_splittable',
    'request_timeout',
    'scope_not_allowed',
    'space_mismatch',
    'too_many_calls_at_once',
    'too_many_inputs',
    'too_many_parts',
    'too_many_wrong_keys',
    'type_unsupported',
    'unknown_path',
    'unsupported_media_type',
    'unsupported_parameter',
    'upstream_refused',
  ],
  torana: [
    'asset_store_unreachable',
    'budget_store_unreachable',
    'deployments_busy',
    'deployments_drained',
    'disk_full',
    'image_files_lost',
    'image_store_unreachable',
    'internal_error',
    'key_store_unreachable',
    'ledger_unavailable',
    'model_unpriced',
    'node_overloaded',
    'node_starting',
    'project_deleted',
    'space_unknown',
    'space_unprobed',
    'store_unreachable',
    'too_many_bodies',
    'too_many_image_jobs',
    'uploads_unwritable',
    'upstream_model_missing',
    'upstream_rejected_us',
  ],
  upstream: [
    'no_healthy_deployment',
    'outcome_unknown',
    'space_left',
    'space_quarantined',
    'upstream_broken_answer',
    'upstream_failed',
    'upstream_rate_limited',
    'upstream_timeout',
    'upstream_unreachable',
  ],
}

for (const party of PARTIES)
  for (const code of AT_FAULT[party])
    test(`${code} is the fault of: ${party}`, () => {
      assert.equal(partyOf(code), party)
    })

test('every code has a party, and a code of another version has none', () => {
  for (const code of Object.keys(FAULTS)) assert.ok(partyOf(code) !== undefined, code)
  for (const code of ['of_another_version', 'toString', '']) assert.equal(partyOf(code), undefined)
})
