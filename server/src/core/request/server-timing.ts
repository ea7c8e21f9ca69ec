import { ownTime, type RequestTrace } from './request-trace.ts'

/**
 * The value of the header `server-timing`: where the time of a request went until now, in milliseconds. Browsers draw it,
 * and people read it. It is computed before the answer is written, so it lacks that.
 */
export function serverTiming(trace: RequestTrace, nowMs: number): string {
  const totalMs = nowMs - trace.startedMs
  const { ownMs, waitedMs } = ownTime(trace, totalMs)
  const upstreamMs = Math.max(0, totalMs - ownMs - waitedMs)
  return `torana;dur=${tenths(ownMs)}, queue;dur=${tenths(waitedMs)}, upstream;dur=${tenths(upstreamMs)}`
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10
}
