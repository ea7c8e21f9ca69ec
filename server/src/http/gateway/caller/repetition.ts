/** Whether a request was sent before, according to its headers. */
import type { IncomingMessage } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import { singleOf } from './caller.ts'

/** OpenAI's own bound on such keys. */
const MAX_IDEMPOTENCY_KEY = 255

export interface Repetition {
  /** Requests with equal keys are the same request. Undefined if there is none. */
  readonly idempotencyKey: string | undefined
  /** The caller's SDK declares that this is its own retry. */
  readonly isRetry: boolean
}

export function repetitionIn({ headers }: IncomingMessage): Repetition {
  const idempotencyKey = singleOf(headers['idempotency-key'])
  if (
    idempotencyKey !== undefined &&
    !/^[\x21-\x7e]+$/.test(idempotencyKey.slice(0, MAX_IDEMPOTENCY_KEY + 1))
  )
    throw keyFault('must be visible ASCII characters without spaces')
  if (idempotencyKey !== undefined && idempotencyKey.length > MAX_IDEMPOTENCY_KEY)
    throw keyFault(`has ${idempotencyKey.length} characters; at most ${MAX_IDEMPOTENCY_KEY} are allowed`)
  const isRetry = Number(singleOf(headers['x-stainless-retry-count']) ?? 0) >= 1
  return { idempotencyKey, isRetry }
}

function keyFault(what: string): Fault {
  return new Fault('invalid_parameter', `The header Idempotency-Key ${what}.`, { param: 'idempotency-key' })
}
