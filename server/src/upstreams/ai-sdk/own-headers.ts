import type { EmbeddingCall } from '#ports/upstream.ts'

/** Headers that Torana adds to those of the package. */
export function ownHeaders({
  callId,
  traceHeaders = [],
}: Pick<EmbeddingCall, 'callId' | 'traceHeaders'>): Record<string, string> {
  const headers: Record<string, string> = { 'x-torana-call-id': callId }
  for (let at = 0; at < traceHeaders.length; at += 2)
    headers[traceHeaders[at] as string] = traceHeaders[at + 1] as string
  return headers
}
