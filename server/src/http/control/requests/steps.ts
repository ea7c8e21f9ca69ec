/** The steps of a request on a line of time, from the moments that were noted on its way. */
import type { z } from 'zod'
import type { RequestDetail } from '#ports/request-reports.ts'
import type { requestStep } from './schemas.ts'

type Step = z.output<typeof requestStep>

type TimedRequest = Pick<
  RequestDetail,
  'moments' | 'attempts' | 'durationMs' | 'bytesIn' | 'bytesOut' | 'inputs' | 'hits' | 'width' | 'encoding'
>

/** In order, without gaps but for the calls. A request that ended early ends with the step that it ended in. */
export function stepsOf(request: TimedRequest): Step[] {
  const { moments, attempts, durationMs, inputs, hits } = request
  const { authenticated, read, admitting, admitted, lookedUp, gathered, settled } = moments
  const firstCallMs = attempts.length === 0 ? undefined : Math.min(...attempts.map(begunMs))
  const lastCallMs = attempts.reduce((last, call) => Math.max(last, call.startMs + call.durationMs), 0)
  const steps: Step[] = []
  let atMs = 0
  /** Returns whether the request went on after this step. */
  const step = (name: Step['name'], endMs: number | undefined, note: Step['note']): boolean => {
    const untilMs = Math.max(atMs, Math.min(endMs ?? durationMs, durationMs))
    steps.push({ name, start_ms: hundredths(atMs), duration_ms: hundredths(untilMs - atMs), note })
    atMs = untilMs
    return endMs !== undefined
  }
  const isOld = authenticated === undefined && admitting !== undefined
  if (!isOld) {
    if (!step('authenticate', authenticated, {})) return steps
    if (!step('read', read, { bytes: request.bytesIn })) return steps
    if (!step('negotiate', admitting, {})) return steps
  }
  if (!step('admit', admitted, {})) return steps
  if (gathered !== undefined || attempts.length > 0)
    step('gather', lookedUp ?? firstCallMs ?? gathered, counted({ inputs, hits }))
  atMs = Math.max(atMs, Math.min(lastCallMs, durationMs))
  if (gathered !== undefined) {
    step(
      'shape',
      gathered,
      counted({ vectors: request.width === undefined ? undefined : inputs, width: request.width }),
    )
    if (!step('settle', settled, {})) return steps
  }
  const { bytesOut: bytes, encoding } = request
  step('answer', durationMs, { ...counted({ bytes }), ...(encoding === undefined ? {} : { encoding }) })
  return steps
}

function begunMs({ startMs, waitedMs }: RequestDetail['attempts'][number]): number {
  return startMs - waitedMs
}

/** Without what is not known. */
function counted(note: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(note).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  )
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100
}
