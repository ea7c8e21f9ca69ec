/** How far the ledger is sealed, exported to files and dropped from PostgreSQL, and what to do where it is stalled. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, type Schema } from '../../api/client.ts'
import { DOCS_URL } from '../../app/docs-url.ts'
import { ageOf, bytes, dayWithYear, moment } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { useZone } from '../../time/zone.ts'
import { LoadingRows } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { State, type Mark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { SettingRow } from './rows.tsx'

interface StatusProps {
  readonly status: Schema<'LedgerStatus'>
}

const say = words.nodes.ledger

/** Interval of asking again: the node looks for due hours and days once a minute. */
const ASK_EVERY_MS = 60_000
const ledgerQuery = api.queryOptions('get', '/api/v1/ledger', {}, { refetchInterval: ASK_EVERY_MS })

export function LedgerStatus() {
  const { data, error, refetch } = useQuery(ledgerQuery)
  return (
    <section aria-labelledby="ledger" className="px-6 pt-5 phone:px-4">
      <header className="flex items-center gap-3 pb-2">
        <h2 id="ledger" className="text-13 font-semibold">
          {say.title}
        </h2>
        <a className="link ml-auto text-12" href={`${DOCS_URL}/lake.md`} target="_blank" rel="noreferrer">
          {say.docs}
        </a>
      </header>
      {error !== null && <Problem error={error} retry={() => void refetch()} className="px-0" />}
      {data === undefined && error === null && <LoadingRows />}
      {data && (
        <div className="divide-y divide-line border-y border-line">
          <Sealed status={data} />
          <Exported status={data} />
          <Kept status={data} />
        </div>
      )}
    </section>
  )
}

function Sealed({ status: { sealed_through: through, sealing_stalled: stalled } }: StatusProps) {
  useZone()
  const nowMs = useNow()
  const far = through === null ? say.noHour : say.hoursBefore(moment(through, nowMs), ageOf(through, nowMs))
  return (
    <SettingRow label={say.sealed} hint={say.sealedHint}>
      {stalled === null ? (
        <Value mark={through === null ? 'off' : 'good'} text={far} />
      ) : (
        <Value mark="bad" text={say.stalled(ageOf(stalled.since, nowMs))}>
          <Line>{far}</Line>
          <Line>
            {stalled.earlier_nodes > 0
              ? say.endEarlier(stalled.earlier_nodes)
              : say.readLog(stalled.step === 'seal' ? 'seal' : 'reconcile')}
          </Line>
        </Value>
      )}
    </SettingRow>
  )
}

function Exported({ status }: StatusProps) {
  const nowMs = useNow()
  const { exported_through: through, waiting_days: waiting, problem } = status
  const far = through === null ? say.noDay : say.daysBefore(dayOf(through))
  const [mark, text, ...more] = ((): readonly [Mark, string, ...string[]] => {
    if (status.export === 'off') return ['off', say.exportOff, say.turnOn]
    if (problem !== null) return ['bad', say.stalled(ageOf(problem.at, nowMs)), problem.says, say.fixFiles]
    if (status.export_late) return ['warn', say.waiting(waiting), say.checkBucket]
    return [through === null ? 'off' : 'good', far]
  })()
  const files = say.files(status.exported_days, status.exported_entries, bytes(status.exported_bytes))
  return (
    <SettingRow label={say.exported} hint={say.exportedHint}>
      <Value mark={mark} text={text}>
        {text !== far && through !== null && <Line>{far}</Line>}
        {status.exported_days > 0 && <Line>{files}</Line>}
        {more.map((line) => (
          <Line key={line}>{line}</Line>
        ))}
      </Value>
    </SettingRow>
  )
}

function Kept({ status: { keep_days: days, kept_from: from } }: StatusProps) {
  return (
    <SettingRow label={say.kept} hint={say.keptHint}>
      <Value text={days === null ? say.allDays : say.lastDays(days)}>
        <Line>{from === null ? say.nothingDropped : say.dropped(dayOf(from))}</Line>
      </Value>
    </SettingRow>
  )
}

/** Days of the ledger are those of UTC. */
const dayOf = (day: string): string => dayWithYear(day, 'UTC')

interface ValueProps {
  readonly mark?: Mark
  readonly text: string
  readonly children?: ReactNode
}

function Value({ mark, text, children }: ValueProps) {
  return (
    <div className="min-w-0">
      {mark === undefined ? <p>{text}</p> : <State mark={mark}>{text}</State>}
      {/* Below the word, not below its mark. */}
      <div className={mark && 'pl-4.5'}>{children}</div>
    </div>
  )
}

function Line({ children }: { readonly children: ReactNode }) {
  return <p className="text-12 break-words text-ink-2">{children}</p>
}
