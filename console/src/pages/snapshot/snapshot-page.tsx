/** A page as it was, for anyone with its link. It asks for nothing but the snapshot. */
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { Camera } from 'lucide-react'
import { useEffect, type ReactNode } from 'react'
import { isNotFound } from '../../api/faults.ts'
import { snapshotQueries, type Snapshot, type SnapshotPage as Kind } from '../../api/queries/snapshots.ts'
import { clock, dayWithYear } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { Brand } from '../../ui/brand.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import type { BodyProps } from './body.ts'

const BODIES: Readonly<Record<Kind, (props: BodyProps) => ReactNode>> = {
  overview: lazyPart(async () => (await import('./overview-body.tsx')).OverviewBody),
  requests: lazyPart(async () => (await import('./requests-body.tsx')).RequestsBody),
  usage: lazyPart(async () => (await import('./usage-body.tsx')).UsageBody),
  budgets: lazyPart(async () => (await import('./budgets-body.tsx')).BudgetsBody),
}

export function SnapshotPage() {
  const { hash } = useLocation()
  const { data, error, refetch } = useQuery({ ...snapshotQueries.look(hash), enabled: hash !== '' })
  const say = words.snapshots.page
  const title = data?.title ?? words.snapshots.links
  useEffect(() => {
    document.title = `${title} · Torana`
  }, [title])
  return (
    <div className="flex h-full min-h-0 flex-col overflow-y-auto bg-surface">
      <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-6 py-2 phone:px-4">
        <Brand size={20} />
        <h1 dir="auto" className="min-w-0 truncate text-15 font-semibold">
          {title}
        </h1>
        {data !== undefined && <Head snapshot={data} />}
      </header>
      <main className="flex min-h-0 flex-1 flex-col">
        {hash === '' || isNotFound(error) ? (
          <Empty title={say.gone} actions={<ButtonLink to={paths.signIn()}>{say.signIn}</ButtonLink>}>
            {say.goneText}
          </Empty>
        ) : error !== null ? (
          <Problem error={error} retry={() => void refetch()} />
        ) : data === undefined ? (
          <LoadingRows />
        ) : (
          <Body snapshot={data} />
        )}
      </main>
    </div>
  )
}

function Head({ snapshot }: { readonly snapshot: Snapshot }) {
  const { page, projects, created_by: maker, created_at: at, expires_at: end } = snapshot
  const say = words.snapshots.page
  return (
    <>
      <Tag>{words.places[page]}</Tag>
      <Tag>{projects === null ? say.all : projects.join(', ')}</Tag>
      <p
        className="ml-auto flex items-center gap-2 text-12 text-ink-2 phone:ml-0 phone:w-full"
        title={say.frozen}
      >
        <Camera size={14} aria-hidden className="shrink-0 text-ink-3" />
        {say.by(maker, `${dayWithYear(at, 'UTC')} ${clock(at, 'UTC')} UTC`)}
        <span className="text-ink-3">{say.expires(dayWithYear(end, 'UTC'))}</span>
      </p>
    </>
  )
}

function Body({ snapshot: { page, content, created_at: at } }: { readonly snapshot: Snapshot }) {
  const Content = BODIES[page]
  return <Content content={content} atMs={Date.parse(at)} />
}
