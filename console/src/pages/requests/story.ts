/** What happened to a request, in sentences made from its record. Each says who was at fault: caller, Torana, or upstream. */
import type { RequestDetail } from '../../api/queries/requests.ts'
import { count, duration, share } from '../../app/format.ts'
import { words } from '../../words/words.ts'
import { upstreamOf } from '../../parts/deployments/short-names.ts'

type Maker = (request: RequestDetail) => string | readonly string[] | undefined

/** More failures than this in a row tell nothing more. */
const MOST_FAILURES = 4

/** In order. Marks in a sentence: `**name**` is strong, `~name~` failed, and back-ticks are code. */
export function storyOf(request: RequestDetail): readonly string[] {
  // Calls side by side may fail alike: that is told once.
  return [...new Set(MAKERS.flatMap((maker) => maker(request) ?? []))]
}

const inputs: Maker = ({ kind, inputs: all, hits, attempts }) => {
  if (kind !== 'embedding' || all === null) return undefined
  const { story } = words.requests
  const first = attempts.filter(({ instead_of }) => instead_of === null)
  const calls = story.callCount(first.length)
  if (hits !== null && hits > 0 && hits === all) return story.allCached(count(all))
  if (hits !== null && hits > 0) return story.someCached(count(all), count(hits), count(all - hits), calls)
  return first.length > 1 && all > 1 ? story.split(count(all), calls) : undefined
}

const failures: Maker = ({ attempts, model }) => {
  const { story } = words.requests
  return attempts
    .filter(({ outcome }) => outcome !== 'ok')
    .slice(0, MOST_FAILURES)
    .map((call) => {
      const what =
        call.status === null
          ? (story.kinds[call.outcome] ?? call.outcome)
          : call.retry_after_ms === null
            ? story.said(call.status)
            : story.saidRetry(call.status, `${Math.ceil(call.retry_after_ms / 1000)}`)
      const next = attempts.find(({ instead_of }) => instead_of === call.attempt)
      const sentence = story.failed(upstreamOf(call.deployment, model), what)
      return next === undefined ? sentence : `${sentence} ${story.wentTo(upstreamOf(next.deployment, model))}`
    })
}

const plain: Maker = ({ outcome, attempts, model }) => {
  const [only, ...others] = attempts
  if (outcome !== 'answered' || only === undefined || others.length > 0 || only.outcome !== 'ok')
    return undefined
  return words.requests.story.plain(upstreamOf(only.deployment, model), duration(only.duration_ms))
}

/** Failures of what answers calls. Every other failure is Torana's own: its stores, its room, its code. */
const OF_DEPLOYMENTS = /^(?:upstream_|deployments_|space_|no_healthy_deployment$)/

/** Refusals that the caller can do nothing about: an admin set the terms. */
const BY_TERMS: ReadonlySet<string> = new Set([
  'project_deleted',
  'model_not_allowed',
  'scope_not_allowed',
  'address_not_allowed',
  'model_unpriced',
])

/** Why there was no fallback. */
function skipsIn(skips: RequestDetail['skips'], model: string | null): readonly string[] {
  const { skipped, lastSkipped } = words.requests.story
  return skips.map(({ deployment, reason }, index) => {
    const say = index === skips.length - 1 ? lastSkipped : skipped
    return say(upstreamOf(deployment, model), words.deployments.skips[reason])
  })
}

const end: Maker = ({ outcome, fault, attempts, skips, model }) => {
  const { story } = words.requests
  if (fault === null) return undefined
  if (fault === 'client_closed_request') return story.left
  if (outcome === 'unknown') return story.unknown
  if (outcome === 'limited') return story.byLimit(fault)
  if (outcome === 'refused') return BY_TERMS.has(fault) ? story.byTerms(fault) : story.byCaller(fault)
  if (skips.length > 0) return skipsIn(skips, model)
  if (fault.startsWith('upstream_') && attempts.length > 0) return story.noneLeft
  if (OF_DEPLOYMENTS.test(fault)) return story.byUpstream(fault)
  return attempts.length === 0 ? story.byToranaUnsent(fault) : story.byTorana(fault)
}

const waited: Maker = ({ waited_ms }) =>
  waited_ms >= 1 ? words.requests.story.waited(duration(waited_ms)) : undefined

const shared: Maker = ({ attempts }) => {
  const most = Math.max(0, ...attempts.map(({ shared_with }) => shared_with))
  return most === 0 ? undefined : words.requests.story.shared(count(most))
}

const emulated: Maker = ({ emulated: names }) =>
  names.length === 0 ? undefined : words.requests.story.emulated(codes(names))

const dropped: Maker = ({ dropped: names }) =>
  names.length === 0 ? undefined : words.requests.story.dropped(codes(names))

const usage: Maker = ({ usage: source, unpriced }) => {
  const { story } = words.requests
  if (unpriced) return story.unpriced
  return source === 'estimated' ? story.estimated : undefined
}

/** Of a slow one, whose time it was. */
const SLOW_MS = 1000

const slowest: Maker = ({ duration_ms: all, own_ms: own, waited_ms: queued }) => {
  if (all < SLOW_MS) return undefined
  const { slowest: say } = words.requests.story
  const upstream = all - own - queued
  if (Math.max(own, upstream) < queued) return undefined
  return own >= upstream ? say.own(share(own / all)) : say.upstream(share(upstream / all))
}

const MAKERS: readonly Maker[] = [
  inputs,
  failures,
  plain,
  end,
  waited,
  shared,
  emulated,
  dropped,
  usage,
  slowest,
]

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}
