/** The state of an upstream in a few words. */
import { age, clock } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { State, type Mark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import type { Check, Upstream, UpstreamRow } from './upstream-row.ts'

type Kind = Upstream['state']['kind']

const MARKS: Record<Kind, Mark> = {
  healthy: 'good',
  limited: 'warn',
  space_failed: 'odd',
  rejected: 'bad',
  unreachable: 'bad',
  unused: 'off',
}

/** Codes of a failed check that have a state of their own. */
const KINDS_OF_CODES: Partial<Record<string, Kind>> = {
  upstream_rejected_us: 'rejected',
  upstream_unreachable: 'unreachable',
  upstream_timeout: 'unreachable',
  upstream_rate_limited: 'limited',
}

interface Shown {
  readonly mark: Mark
  readonly text: string
  /** Another key would help. */
  readonly isRejected: boolean
  readonly title?: string | undefined
}

export function shownState({ upstream: { state }, check }: UpstreamRow, nowMs: number): Shown {
  const say = words.routing.upstreams
  if (check === 'busy') return { mark: 'wait', text: say.checking, isRejected: false }
  if (check?.problem !== undefined) return failedCheck(check)
  const isRejected = state.kind === 'rejected'
  const text = { mark: MARKS[state.kind], isRejected }
  switch (state.kind) {
    case 'limited': {
      const wait = state.retry_at === null ? 0 : Date.parse(state.retry_at) - nowMs
      return { ...text, text: `${say.states.limited}${wait > 0 ? say.retryIn(age(wait + 999)) : ''}` }
    }
    case 'rejected':
      return {
        ...text,
        text: `${say.states.rejected}${state.status === null ? '' : say.withStatus(state.status)}`,
      }
    case 'space_failed':
    case 'unreachable':
      return { ...text, text: say.states[state.kind](state.since === null ? '' : clock(state.since)).trim() }
    default:
      return { ...text, text: say.states[state.kind] }
  }
}

function failedCheck({ code = '', problem }: Exclude<Check, 'busy'>): Shown {
  const say = words.routing.upstreams
  const kind = KINDS_OF_CODES[code]
  if (kind === 'rejected') return { mark: 'bad', text: say.states.rejected, isRejected: true, title: problem }
  return {
    mark: kind === 'limited' ? 'warn' : 'bad',
    text: kind === 'limited' ? say.states.limited : say.checkFailed,
    isRejected: false,
    title: problem,
  }
}

export function UpstreamState({ row }: { readonly row: UpstreamRow }) {
  const { mark, text, title } = shownState(row, useNow())
  return (
    <span title={title}>
      <State mark={mark}>{text}</State>
    </span>
  )
}
