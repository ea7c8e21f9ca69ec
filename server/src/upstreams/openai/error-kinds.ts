/** What the error codes of providers mean where that differs from the meaning of their status. */
import { failureKindOf, type FailureKind } from '#core/fault/failure.ts'

/** By error code, reason or status. */
export type ErrorKinds = Readonly<Record<string, FailureKind>>

export const GOOGLE_KINDS: ErrorKinds = {
  // Google answers a wrong key with 400; only the reason distinguishes it from a bad request.
  API_KEY_INVALID: 'rejectedUs',
  // Billing is off, or our region is not served.
  FAILED_PRECONDITION: 'rejectedUs',
}

export const BEDROCK_KINDS: ErrorKinds = {
  ServiceQuotaExceededException: 'rejectedUs',
  ExpiredTokenException: 'rejectedUs',
}

export const COHERE_KINDS: ErrorKinds = { 498: 'rejectedUs' }

export const ALIBABA_KINDS: ErrorKinds = { Arrearage: 'rejectedUs', DataInspectionFailed: 'contentRefused' }

interface ErrorFacts {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The error's own code. */
  readonly code: string | undefined
  readonly reasons: readonly string[]
}

/** A provider's own meaning of an error, or the usual one. */
export function kindOf({ status, headers, code, reasons }: ErrorFacts, kinds: ErrorKinds = {}): FailureKind {
  const amazonType = headers['x-amzn-errortype']
  const amazonCode = typeof amazonType === 'string' ? amazonType.split(':')[0] : undefined
  for (const word of [...reasons, code, amazonCode, String(status)]) {
    const kind = word === undefined || !Object.hasOwn(kinds, word) ? undefined : kinds[word]
    if (kind !== undefined) return kind
  }
  return failureKindOf(status, code)
}
