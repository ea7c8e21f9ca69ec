/** Answers that carry a fault, as schemas for the OpenAPI documents of both listeners. */
import { z } from 'zod'
import type { FaultCode } from '#core/fault/fault.ts'
import { FAULTS } from '#core/fault/table.ts'

const errorAnswer = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.enum(Object.keys(FAULTS) as [FaultCode, ...FaultCode[]]),
      request_id: z.string(),
      doc_url: z.string(),
      upstream: z
        .object({ deployment: z.string(), status: z.int().optional(), request_id: z.string().optional() })
        .optional()
        .describe('Present when an upstream failed.'),
    }),
  })
  .meta({ id: 'Error' })

/** Codes that only people and programs on the control port can get. */
const CONTROL_ONLY: ReadonlySet<string> = new Set<FaultCode>([
  'configuration_changed',
  'conflict',
  'forbidden',
  'insecure_sign_in',
  'link_invalid',
  'session_ended',
  'sign_in_failed',
  'sign_on_failed',
  'too_many_exports',
  'too_many_reads',
  'too_many_sign_ins',
  'too_many_streams',
  'wrong_host',
  'wrong_origin',
])

/** Codes of the control port that callers of the gateway can get too. */
const CONTROL_AND_GATEWAY: ReadonlySet<string> = new Set<FaultCode>([
  'asset_gone',
  'asset_store_unreachable',
  'body_too_large',
  'file_store_unreachable',
  'internal_error',
  'invalid_api_key',
  'invalid_json',
  'invalid_parameter',
  'key_store_unreachable',
  'malformed_request',
  'missing_api_key',
  'missing_parameter',
  'node_overloaded',
  'node_starting',
  'not_found',
  'request_timeout',
  'store_unreachable',
  'too_many_bodies',
  'too_many_wrong_keys',
  'unknown_path',
  'unsupported_media_type',
])

/** `playground`: a request that the control port hands to the gateway, which can get the codes of both. */
export type Answering = 'gateway' | 'control' | 'playground'

const CAN_ANSWER: Readonly<Record<Answering, (code: string) => boolean>> = {
  gateway: (code) => !CONTROL_ONLY.has(code),
  control: (code) => CONTROL_ONLY.has(code) || CONTROL_AND_GATEWAY.has(code),
  playground: () => true,
}

/**
 * The statuses that an operation can answer with, each with its codes. Every route that checks keys can also refuse too many wrong
 * ones.
 */
export function faultAnswers(
  statuses: readonly number[],
  answering: Answering,
): Record<number, typeof errorAnswer> {
  const tooManyWrongKeys: FaultCode = 'too_many_wrong_keys'
  const answers = Object.fromEntries(
    statuses.map((status) => {
      const codes = Object.entries(FAULTS)
        .filter(([code, entry]) => entry.status === status && CAN_ANSWER[answering](code))
        .map(([code]) => code)
      if (codes.length === 0) throw new Error(`no fault of the ${answering} has the status ${status}`)
      return [status, errorAnswer.describe(codes.join(', '))]
    }),
  )
  return statuses.includes(401) ? { 429: errorAnswer.describe(tooManyWrongKeys), ...answers } : answers
}
