/** Where the time of a request went, as one short bar: its length is logarithmic, its parts are true. */
import type { RequestRow } from '../../api/queries/requests.ts'
import { duration } from '../../app/format.ts'
import { words } from '../../words/words.ts'

const LEAST_MS = 0.5
const MOST_MS = 120_000

export function LatencyBar({
  row,
}: {
  readonly row: Pick<RequestRow, 'duration_ms' | 'own_ms' | 'waited_ms'>
}) {
  const { duration_ms: all, own_ms: own, waited_ms: waited } = row
  const upstream = Math.max(0, all - own - waited)
  const length = Math.log(Math.max(all, LEAST_MS) / LEAST_MS) / Math.log(MOST_MS / LEAST_MS)
  const { parts } = words.requests
  const title = `${parts.own} ${duration(own)} · ${parts.waited} ${duration(waited)} · ${parts.upstream} ${duration(upstream)}`
  const part = (ms: number): string => `${all === 0 ? 0 : (ms / all) * 100}%`
  return (
    <span
      role="img"
      aria-label={title}
      title={title}
      className="flex h-1.5 overflow-hidden rounded-[2px]"
      style={{ width: `${Math.max(4, Math.min(1, length) * 100)}%` }}
    >
      <span className="bg-ink-3" style={{ width: part(own) }} />
      <span className="hatched" style={{ width: part(waited) }} />
      <span className="bg-s1/70" style={{ width: part(upstream) }} />
    </span>
  )
}
