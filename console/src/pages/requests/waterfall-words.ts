/** Names and notes of the rows of a waterfall. */
import type { RequestDetail } from '../../api/queries/requests.ts'
import { age, bytes, count, duration, whole } from '../../app/format.ts'
import { waterfallLayout, type WaterfallLayout, type WaterfallRow } from '../../charts/waterfall/layout.ts'
import { words } from '../../words/words.ts'
import { upstreamOf } from '../../parts/deployments/short-names.ts'

type Step = RequestDetail['steps'][number]
type Call = RequestDetail['attempts'][number]
type Row = WaterfallRow<Step, Call>

export function layoutOf(request: RequestDetail): WaterfallLayout<Step, Call> {
  return waterfallLayout(request.steps, request.attempts, request.duration_ms)
}

export function nameOf({ step, callNumber }: Row): string {
  const { waterfall } = words.requests
  return step === undefined ? waterfall.call(callNumber ?? 0) : waterfall.names[step.name]
}

/** What it did: `412 of 640 in the cache`. */
export function noteOf(request: RequestDetail): (row: Row) => string | null {
  const numberOf = new Map(
    request.attempts
      .map(({ attempt }) => attempt)
      .sort((a, b) => a - b)
      .entries(),
  )
  const numbers = new Map([...numberOf].map(([index, attempt]) => [attempt, index + 1]))
  return ({ step, call }) => {
    if (call !== undefined) return callNote(call, request, numbers)
    return step === undefined ? null : stepNote(step, request)
  }
}

function stepNote(
  { name, note }: Step,
  { key, hits, inputs, emulated, money }: RequestDetail,
): string | null {
  const { waterfall } = words.requests
  switch (name) {
    case 'authenticate':
      return key
    case 'read':
      return bytes(Number(note['bytes'] ?? 0))
    case 'negotiate':
      return emulated.length === 0 ? waterfall.native : waterfall.emulated(emulated.length)
    case 'admit':
      return money.reserved_usd === null ? null : waterfall.reserved
    case 'gather':
      if (hits === null || inputs === null) return null
      return hits === 0 ? waterfall.noCache : waterfall.cached(count(hits), count(inputs))
    case 'shape':
      return note['vectors'] === undefined
        ? null
        : waterfall.vectors(count(Number(note['vectors'])), whole(Number(note['width'])))
    case 'settle':
      return waterfall.committed
    case 'answer':
      return [bytes(Number(note['bytes'] ?? 0)), note['encoding']]
        .filter((one) => one !== undefined)
        .join(', ')
  }
}

function callNote(call: Call, { kind, model }: RequestDetail, numbers: ReadonlyMap<number, number>): string {
  const { waterfall } = words.requests
  const upstream = upstreamOf(call.deployment, model)
  const before = call.instead_of === null ? undefined : numbers.get(call.instead_of)
  const what =
    before === undefined
      ? waterfall.callNote(upstream, call.inputs, kind)
      : waterfall.callInstead(upstream, call.inputs, kind, before)
  return call.shared_with === 0 ? what : `${what}, ${waterfall.shared(call.shared_with)}`
}

/** Beside the bar of a failed call: `429, closed for 2 s`. */
export function failureNote({ call }: Row): string | null {
  if (call === undefined || call.outcome === 'ok') return null
  const what = `${call.status ?? words.requests.story.kinds[call.outcome] ?? call.outcome}`
  if (call.retry_after_ms === null) return what
  return `${what}, ${words.requests.waterfall.closed(age(Math.ceil(call.retry_after_ms / 1000) * 1000))}`
}

export function findingOf({ duration_ms, own_ms, attempts }: RequestDetail): string {
  return words.requests.waterfall.finding(duration(duration_ms), duration(own_ms), attempts.length)
}
