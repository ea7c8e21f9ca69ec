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

/**
 * The statuses that an operation can answer with, each with its codes. Every route that checks keys can also refuse too many wrong
 * ones.
 */
export function faultAnswers(statuses: readonly number[]): Record<number, typeof errorAnswer> {
  const tooManyWrongKeys: FaultCode = 'too_many_wrong_keys'
  const answers = Object.fromEntries(
    statuses.map((status) => {
      const codes = Object.entries(FAULTS).filter(([, entry]) => entry.status === status)
      return [status, errorAnswer.describe(codes.map(([code]) => code).join(', '))]
    }),
  )
  return statuses.includes(401) ? { 429: errorAnswer.describe(tooManyWrongKeys), ...answers } : answers
}
