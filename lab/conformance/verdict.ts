/** What a judge says of an answer; and of errors, which are judged alike for vectors and for pictures. */
import type { Program } from './clients.ts'
import type { ExpectedError } from './rows.ts'
import type { ClientError } from './run-client.ts'
import { upstreamKey } from './torana.ts'

/** `close` is within the tolerance where equality was asked for. */
export type Verdict =
  | { readonly result: 'right' | 'close' }
  | { readonly result: 'wrong'; readonly expected: string; readonly got: string }

/** `ending` is how the client ended, when it ended badly. */
export function unanswered(ending: string | undefined): Verdict {
  return { result: 'wrong', expected: 'an answer', got: ending ?? 'nothing: the client ended without it' }
}

/** `got` is a text when the client got an answer where it should have got an error. */
export function judgeError(client: Program, expected: ExpectedError, got: ClientError | string): Verdict {
  const className = client.errorClass(expected.status)
  const wanted = `${className} ${expected.status} ${expected.code}: … ${expected.says} …`
  if (typeof got === 'string') return { result: 'wrong', expected: wanted, got }
  const right =
    got.class === className &&
    got.status === expected.status &&
    got.code === expected.code &&
    got.message.includes(expected.says) &&
    (expected.retryAfter === undefined || isWithin(got, expected.retryAfter))
  if (!right) return { result: 'wrong', expected: wanted, got: wordsOf(got) }
  if (!got.requestId) return { result: 'wrong', expected: 'a request id', got: wordsOf(got) }
  if (got.message.includes(upstreamKey)) {
    return { result: 'wrong', expected: "no word of the upstream's key", got: wordsOf(got) }
  }
  return { result: 'right' }
}

/** Seconds, said in header and message alike: what is left of the upstream's word, which another caller may have got before. */
function isWithin({ retryAfter, message }: ClientError, most: string): boolean {
  const seconds = Number(retryAfter)
  return seconds >= 1 && seconds <= Number(most) && message.includes(`retry in ${retryAfter} s`)
}

export function wordsOf({ class: className, status, code, message, retryAfter }: ClientError): string {
  const wait = retryAfter ? ` (retry after ${retryAfter})` : ''
  return `${className} ${status ?? 'without status'} ${code ?? 'without code'}${wait}: ${message}`
}
