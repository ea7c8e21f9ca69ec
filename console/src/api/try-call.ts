/** A call that a person typed in the API reference, sent with the person's own session. */
import { words } from '../words/words.ts'
import { apiUrl } from './client.ts'
import { FaultError, UnreachableError } from './faults.ts'

export interface TriedCall {
  readonly status: number
  readonly tookMs: number
  readonly requestId: string | null
  readonly contentType: string
  readonly text: string
  readonly isCut: boolean
  /** Undefined: it succeeded. */
  readonly fault: FaultError | undefined
}

/** What is shown of an answer; the rest is for programs. */
const MAX_SHOWN_CHARACTERS = 200_000

export async function tryCall(
  method: string,
  address: `/api/v1/${string}`,
  body: string | undefined,
  signal: AbortSignal,
): Promise<TriedCall> {
  const startedMs = performance.now()
  let response: Response
  try {
    response = await fetch(apiUrl(address), {
      method,
      signal,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body }),
    })
  } catch (error) {
    if (signal.aborted) throw error
    throw new UnreachableError(words.ui.unreachable, { cause: error })
  }
  const text = await response.text()
  return {
    status: response.status,
    tookMs: performance.now() - startedMs,
    requestId: response.headers.get('x-request-id'),
    contentType: response.headers.get('content-type') ?? '',
    text: pretty(text).slice(0, MAX_SHOWN_CHARACTERS),
    isCut: text.length > MAX_SHOWN_CHARACTERS,
    fault: response.ok ? undefined : new FaultError(response, parsed(text)),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function pretty(text: string): string {
  const value = parsed(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}
