/** Sends a message to an OTLP receiver once. */
import type { TracingSettings } from '#core/settings.ts'

export interface OtlpAnswer {
  /** Undefined: it took everything. */
  readonly problem: string | undefined
  /** Spans that it did not take. Undefined: all. */
  readonly rejected: number | undefined
  /** Whether the same message has no better chance later. */
  readonly isFinal: boolean
}

/** Statuses after which the receiver may work later. All other refusals are final. */
const LATER: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

export async function postOtlp(
  { url, headers, timeoutMs }: Pick<TracingSettings, 'url' | 'headers' | 'timeoutMs'>,
  body: Uint8Array,
): Promise<OtlpAnswer> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(body),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { status, ok } = answer
    const bytes = new Uint8Array(await answer.arrayBuffer())
    if (!ok) return { problem: `it answered ${status}`, rejected: undefined, isFinal: !LATER.has(status) }
    const rejected = answer.headers.get('content-type')?.startsWith('application/x-protobuf')
      ? rejectedIn(bytes)
      : 0
    const problem = rejected === 0 ? undefined : `it rejected ${rejected} of them`
    return { problem, rejected, isFinal: true }
  } catch (error) {
    const { cause, message } = error as Error
    return {
      problem: cause instanceof Error ? cause.message : message,
      rejected: undefined,
      isFinal: false,
    }
  }
}

/** Bytes that begin `partial_success`, and its number of rejected spans. */
const PARTIAL_SUCCESS = 0x0a
const REJECTED = 0x08

/** The answer is empty, or it has one field `partial_success` with the number first. */
function rejectedIn(answer: Uint8Array): number {
  if (answer[0] !== PARTIAL_SUCCESS) return 0
  const { at } = varintAt(answer, 1)
  return answer[at] === REJECTED ? varintAt(answer, at + 1).value : 0
}

function varintAt(bytes: Uint8Array, from: number): { readonly value: number; readonly at: number } {
  let value = 0
  for (let at = from, scale = 1; ; at += 1, scale *= 128) {
    const byte = bytes[at] ?? 0
    value += (byte & 127) * scale
    if (byte < 128) return { value, at: at + 1 }
  }
}
