/** The errors that callers get for an upstream's fault: status and code of the fault table, and words that the reader needs. */
import type { ExpectedError } from './rows.ts'

export const refused = (says: string): ExpectedError => ({ status: 400, code: 'upstream_refused', says })

export const failed = (says: string): ExpectedError => ({ status: 502, code: 'upstream_failed', says })

export const rejected: ExpectedError = { status: 503, code: 'upstream_rejected_us', says: 'Your key is fine' }

export const missing: ExpectedError = {
  status: 502,
  code: 'upstream_model_missing',
  says: 'an operator must',
}

export const rateLimited = (retryAfter: string): ExpectedError => ({
  status: 429,
  code: 'upstream_rate_limited',
  says: 'retry in',
  retryAfter,
})

export const unreachable: ExpectedError = {
  status: 502,
  code: 'upstream_unreachable',
  says: 'could not be reached',
}

export const timedOut: ExpectedError = {
  status: 504,
  code: 'upstream_timeout',
  says: 'did not answer in time',
}

export const broken: ExpectedError = {
  status: 502,
  code: 'upstream_broken_answer',
  says: 'Torana discarded the answer',
}

export const contentRefused: ExpectedError = {
  status: 400,
  code: 'content_policy_violation',
  says: 'Your request was refused by the content policy.',
}
