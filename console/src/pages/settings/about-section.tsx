import { useQuery } from '@tanstack/react-query'
import { peopleQueries } from '../../api/queries/people.ts'
import { BASE } from '../../app/base.ts'
import { duration, moment, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { useZone } from '../../time/zone.ts'
import { LoadingRows } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { SettingRow, SettingRows } from './rows.tsx'

export function AboutSection() {
  useZone()
  const nowMs = useNow()
  const { data, error, refetch } = useQuery(peopleQueries.settings())
  const say = words.people.about
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows />
  const { about, stores, limits } = data
  return (
    <div className="flex flex-col gap-8 px-6 py-6 phone:px-4">
      <SettingRows title="Torana">
        <SettingRow label={say.version}>{about.version}</SettingRow>
        <SettingRow label={say.licence}>{about.licence}</SettingRow>
        <SettingRow label={say.node}>{about.node}</SettingRow>
        <SettingRow label={say.catalog}>{data.catalog_date}</SettingRow>
        <SettingRow label={say.contract}>
          <span className="mono-12">/api/v1</span>
          <a className="link" href={`${BASE}docs/openapi.json`}>
            {say.contractLink}
          </a>
        </SettingRow>
      </SettingRows>
      <SettingRows title={say.stores}>
        {stores.map(({ name, state, since, ms }) => (
          <SettingRow key={name} label={say.storeNames[name]}>
            <StateMark mark={state === 'there' ? 'good' : 'bad'} word="" />
            {state === 'there' ? say.there(moment(since, nowMs)) : say.away(moment(since, nowMs))}
            {ms !== null && <span className="text-ink-3">· {duration(ms)}</span>}
          </SettingRow>
        ))}
      </SettingRows>
      <Figures
        title={say.limits}
        rows={Object.entries(limits).map(([name, value]) => [name, whole(value)])}
      />
      <Figures
        title={say.dependencies}
        rows={about.dependencies.map(({ name, version }) => [name, version])}
      />
    </div>
  )
}

/** Many short rows, in as many columns as fit. */
function Figures({
  title,
  rows,
}: {
  readonly title: string
  readonly rows: readonly (readonly [name: string, value: string])[]
}) {
  return (
    <section className="max-w-220">
      <h2 className="pb-2 text-13 font-semibold">{title}</h2>
      <dl className="grid grid-cols-2 gap-x-8 border-t border-line phone:grid-cols-1">
        {rows.map(([name, value]) => (
          <div key={name} className="flex h-8 items-center justify-between gap-4 border-b border-line">
            <dt className="mono-12 min-w-0 truncate">{name}</dt>
            <dd className="text-12 tabular-nums text-ink-2">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
