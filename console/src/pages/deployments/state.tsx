/** A deployment's state in words, with what comes next. */
import { age, clock, moment } from '../../app/format.ts'
import { DAY_MS } from '../../time/day.ts'
import { useNow } from '../../time/now.ts'
import type { Deployment } from '../../api/queries/deployments.ts'
import { upstreamOf } from '../../parts/deployments/short-names.ts'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { MARK_TEXT, StateMark } from '../../ui/state-mark.tsx'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'

export const isUnwell = ({ state }: Pick<Deployment, 'state'>): boolean => state !== 'healthy'

export function stateText(one: Deployment, nowMs: number): string {
  const { state, until, since } = one
  const leftMs = until === null ? 0 : Date.parse(until) - nowMs
  const sinceText = nowMs - Date.parse(since) < DAY_MS ? clock(since) : moment(since, nowMs)
  // Rounded up: a second that is left is a second, not none.
  const left = age(Math.ceil(leftMs / 1000) * 1000)
  if (state === 'healthy' && one.skipped_for) return words.deployments.skippedShort(one.skipped_for.keys)
  if (state === 'healthy')
    return one.stands_in ? words.deployments.standsIn : words.deployments.states.healthy
  if (state === 'limited' && leftMs > 0) return words.deployments.limitedFor(left)
  if (state === 'ejected' && leftMs > 0) return words.deployments.probeIn(left)
  if (state === 'quarantined') return words.deployments.quarantinedSince(sinceText)
  if (state === 'drained') return words.deployments.drainedSince(sinceText)
  if (state === 'held-back') return words.deployments.notCompared
  return words.deployments.states[state]
}

export function StateText({ one, bare = false }: { readonly one: Deployment; readonly bare?: boolean }) {
  const now = useNow()
  const isSkipped = one.state === 'healthy' && one.skipped_for !== null
  const mark = isSkipped ? 'warn' : STATE_MARKS[one.state]
  return (
    <span
      className={classes(
        'inline-flex items-center gap-2',
        bare && mark === 'good' ? 'text-ink-2' : MARK_TEXT[mark],
      )}
      title={one.skipped_for ? words.deployments.skippedFor(one.skipped_for.keys) : (one.reason ?? undefined)}
    >
      {!bare && <StateMark mark={mark} word="" />}
      {stateText(one, now)}
    </span>
  )
}

/** `gpu-one`, without the model before it. */
export function nameOf({ id, model }: Pick<Deployment, 'id' | 'model'>): string {
  return upstreamOf(id, model)
}

/** `@1536:daaf8260`, without the model before it, unless the model shares the space. */
export function spaceTail({ space_id: space, model }: Deployment): string | undefined {
  return space === null ? undefined : space.startsWith(`${model}@`) ? space.slice(model.length) : space
}

/** `tier 1 · weight 2`: when it is asked, and its weight if others share the tier. */
export function turnText(one: Deployment, siblings: readonly Deployment[]): string {
  const priorities = [...new Set(siblings.map(({ priority }) => priority))].sort((a, b) => a - b)
  const rank = priorities.indexOf(one.priority)
  const { detail } = words.models
  const turn = detail.turn(rank + 1)
  const isAloneInTurn = siblings.filter(({ priority }) => priority === one.priority).length === 1
  return isAloneInTurn ? turn : `${turn} · ${detail.weight(one.weight)}`
}
