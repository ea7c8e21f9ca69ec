/** One model: what each deployment does with each option, what it costs, who gets a call, and how to use it. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChevronDown, ChevronUp, FileCode2, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { modelQueries } from '../../api/queries/models.ts'
import { useWrite } from '../../api/write.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { paths } from '../../app/paths.ts'
import { SuspectBanner, useSuspects } from '../../parts/spaces/suspect-banner.tsx'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import type { SearchOf } from '../../app/place.ts'
import { useMay } from '../../app/session.ts'
import { Missing } from '../../app/problems.tsx'
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Page } from '../../ui/page.tsx'
import { State } from '../../ui/state-mark.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { Capabilities } from './capabilities.tsx'
import { Ends, Source, sourceOf } from './ends.tsx'
import { sortedRows } from './filters.ts'
import { illOf, isNear } from './row-words.ts'
import { UseIt } from './use-it.tsx'
import { WhoGetsACall } from './who-gets-a-call.tsx'
import { model as place } from './place.ts'

type Model = Schema<'ModelDetail'>

const Prices = lazyPart(async () => (await import('./prices.tsx')).Prices)
const Routing = lazyPart(async () => (await import('./routing.tsx')).Routing)
const Space = lazyPart(async () => (await import('./space.tsx')).Space)
const Traffic = lazyPart(async () => (await import('./traffic.tsx')).Traffic)

const TABS = ['capabilities', 'prices', 'routing', 'traffic', 'space'] as const

export function ModelPage() {
  const { id } = place.useParams()
  const search = place.useSearch()
  const { tab = 'capabilities', sdk } = search
  const change = useChangeSearch<SearchOf<typeof place>>()
  const found = useQuery(modelQueries.one(id))
  const model = found.data
  const { detail } = words.models
  return (
    <Page
      title={id}
      crumbs={[{ label: words.places.models, to: paths.models() }]}
      actions={<Neighbours id={id} />}
      sideWidth={448}
      {...(model && {
        side: <UseIt model={model} sdk={sdk} onSdk={(next) => change({ sdk: next }, { replace: true })} />,
      })}
    >
      {(model === undefined || found.error !== null) && (
        <Missing
          query={found}
          gone={
            <Empty
              title={detail.gone(id)}
              actions={<ButtonLink to={paths.models()}>{detail.allModels}</ButtonLink>}
            >
              {detail.goneNext}
            </Empty>
          }
        />
      )}
      {model && (
        <>
          <Head model={model} />
          <Ends model={model} />
          <Suspects model={model} />
          <Tabs
            label={model.id}
            value={tab}
            className="mx-6 mt-1 phone:mx-4"
            tabs={TABS.filter((one) => one !== 'space' || model.kind === 'embedding').map((one) => ({
              value: one,
              label: detail.tabs[one],
              to: paths.model(id, { tab: one, sdk }),
            }))}
          />
          {tab === 'capabilities' && (
            <>
              <Capabilities model={model} />
              <WhoGetsACall model={model} />
            </>
          )}
          {tab === 'prices' && <Prices model={model} />}
          {tab === 'routing' && <Routing model={model} />}
          {tab === 'traffic' && <Traffic model={model} search={search} />}
          {tab === 'space' && <Space model={model} />}
        </>
      )}
    </Page>
  )
}

function Head({ model }: { readonly model: Model }) {
  const { detail } = words.models
  const ill = illOf(model.deployments)
  const [worst] = ill
  const well = model.deployments.length - ill.length
  return (
    <header className="px-6 pt-5 phone:px-4">
      <p className="flex flex-wrap items-center gap-3">
        <span className="text-18 font-semibold break-all">{model.id}</span>
        <Tag>{words.models.kinds[model.kind]}</Tag>
        <State mark={worst ? STATE_MARKS[worst.state] : 'good'}>
          {detail.healthy(well, model.deployments.length)}
        </State>
        <Remove model={model} />
      </p>
      <p className="mt-1.5 flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-ink-2">
        {model.space !== null && (
          <span className="flex min-w-0 items-center gap-2">
            {detail.space} <span className="mono-12 truncate text-ink">{model.space}</span>
            <CopyIconButton text={model.space} />
          </span>
        )}
        {model.aliases.length > 0 && (
          <span>
            {detail.also} <span className="font-semibold text-ink">{model.aliases.join(', ')}</span>
          </span>
        )}
        {model.ends !== null && !isNear(model.ends) && (
          <span>
            {detail.endsFar(model.ends.on)} <Source {...sourceOf(model)} />
          </span>
        )}
        <span className="flex items-center gap-1.5">
          <FileCode2 size={13} aria-hidden />
          {model.managed_at ?? (model.managed_by === 'store' ? detail.managedHere : detail.builtIn)}
        </span>
      </p>
    </header>
  )
}

function Suspects({ model: { id } }: { readonly model: Model }) {
  const window = useSuspects(({ model }) => model === id)
  if (window === undefined) return null
  return (
    <SuspectBanner window={window} to={paths.model(id, { tab: 'space' })} className="mx-6 mt-3 phone:mx-4" />
  )
}

/** In the order of the list. */
function Neighbours({ id }: { readonly id: string }) {
  const navigate = useNavigate()
  const rows = sortedRows(useQuery(modelQueries.all(undefined)).data?.data ?? [])
  const at = rows.findIndex((row) => row.id === id)
  const step = (by: 1 | -1) => {
    const next = at === -1 ? undefined : rows[at + by]
    return next && (() => void navigate(paths.model(next.id)))
  }
  const [before, after] = [step(-1), step(1)]
  const { detail } = words.models
  return (
    <>
      <IconButton label={detail.previous} disabled={!before} onClick={before}>
        <ChevronUp size={16} aria-hidden />
      </IconButton>
      <IconButton label={detail.next} disabled={!after} onClick={after}>
        <ChevronDown size={16} aria-hidden />
      </IconButton>
    </>
  )
}

/** What shows a model. */
const TOUCHED = {
  touches: ['/api/v1/upstreams', '/api/v1/deployments', '/api/v1/prices', '/api/v1/spaces'],
} as const

/** Only what was connected here can be removed here. */
function Remove({ model }: { readonly model: Model }) {
  const may = useMay()
  const navigate = useNavigate()
  const { send } = useWrite('delete', '/api/v1/models/{id}', TOUCHED)
  const [isOpen, setOpen] = useState(false)
  const { detail } = words.models
  if (model.managed_by !== 'store' || !may('models.write')) return null
  return (
    <>
      <Button
        look="danger"
        size="small"
        icon={<Trash2 size={13} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {detail.remove}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={detail.removeTitle(model.id)}
          description={detail.removeText}
          facts={[[detail.removeWhat, model.deployments.map(({ id }) => id).join(', ')]]}
          go={detail.remove}
          onGo={async () => {
            await send({ params: { path: { id: model.id } } })
            void navigate(paths.models())
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}
