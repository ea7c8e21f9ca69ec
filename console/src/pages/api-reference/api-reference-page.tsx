/** Both APIs as their contracts describe them: read, search, and try under your own rights. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, type ReactNode } from 'react'
import { useChangeSearch } from '../../app/change-search.ts'
import { paths } from '../../app/paths.ts'
import type { SearchOf } from '../../app/place.ts'
import { classes } from '../../ui/classes.ts'
import { Empty } from '../../ui/empty.tsx'
import { Link } from '../../ui/link.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { usePhone } from '../../ui/media.ts'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { matches, operationsOf, type Document, type Operation } from './operations.ts'
import { MethodTag, OperationView } from './operation-view.tsx'
import { apiReference as place } from './place.ts'

const APIS = ['gateway', 'control'] as const
type Api = (typeof APIS)[number]

/** Each is a file of its own, loaded when it is first shown. */
const CONTRACTS: Readonly<Record<Api, () => Promise<Document>>> = {
  gateway: async () => (await import('virtual:contract/gateway')).CONTRACT as Document,
  control: async () => (await import('virtual:contract/control')).CONTRACT as Document,
}

/** Its type is written out: inferred, it would depend on the place that loads it. */
export function ApiReferencePage(): ReactNode {
  const search = place.useSearch()
  const change = useChangeSearch<SearchOf<typeof place>>()
  const isPhone = usePhone()
  const api: Api = search.api ?? 'gateway'
  const { q = '' } = search
  const contract = useQuery<Document>({
    queryKey: ['contract', api],
    queryFn: CONTRACTS[api],
    staleTime: Number.POSITIVE_INFINITY,
  })
  const operations = useMemo(() => (contract.data ? operationsOf(contract.data) : undefined), [contract.data])
  const found = operations?.filter((one) => matches(one, q))
  const chosen = operations?.find(({ id }) => id === search.operation) ?? (isPhone ? undefined : found?.[0])
  const say = words.apiReference
  const isOne = isPhone && chosen !== undefined
  return (
    <Page
      title={say.title}
      fill
      {...(isOne && { crumbs: [{ label: say.title, to: paths.apiReference({ api, q: search.q }) }] })}
      actions={
        <Segmented
          label={say.title}
          segments={APIS.map((value) => ({ value, label: say.apis[value] }))}
          value={api}
          onChange={(next) => change({ api: next === 'gateway' ? undefined : next, operation: undefined })}
        />
      }
    >
      <div className="flex min-h-0 flex-1">
        {!isOne && (
          <nav
            aria-label={say.operations}
            className="flex min-h-0 w-79 shrink-0 flex-col border-r border-line tight:w-64 phone:w-full phone:border-r-0"
          >
            <div className="px-4 py-2.5">
              <SearchField
                label={say.search}
                value={q}
                onChange={(next) => change({ q: next === '' ? undefined : next }, { replace: true })}
              />
            </div>
            <div className="min-h-0 flex-1 overflow-y-auto pb-4">
              {contract.error !== null && (
                <Problem error={contract.error} retry={() => void contract.refetch()} />
              )}
              {contract.isPending && <LoadingRows />}
              {found?.length === 0 && <Empty title={words.ui.nothingFound} />}
              {found !== undefined && <Groups operations={found} chosen={chosen?.id} search={search} />}
            </div>
          </nav>
        )}
        {chosen !== undefined && contract.data !== undefined && (
          <div className="min-w-0 flex-1 overflow-y-auto">
            <OperationView operation={chosen} document={contract.data} />
          </div>
        )}
      </div>
    </Page>
  )
}

interface GroupsProps {
  readonly operations: readonly Operation[]
  readonly chosen: string | undefined
  readonly search: SearchOf<typeof place>
}

function Groups({ operations, chosen, search }: GroupsProps) {
  const groups = [...Map.groupBy(operations, ({ group }) => group)]
  return groups.map(([group, of]) => (
    <div key={group}>
      <h2 className="px-4 pt-3 pb-1 text-11 text-ink-3">{group}</h2>
      <ul>
        {of.map(({ id, method, path, summary }) => (
          <li key={id}>
            <Link
              to={paths.apiReference({ ...search, operation: id })}
              aria-current={id === chosen || undefined}
              title={`${method} ${path}`}
              className={classes(
                'flex items-baseline gap-2 px-4 py-1.5',
                id === chosen ? 'bg-selected' : 'hover:bg-hover',
              )}
            >
              <span className="w-13 shrink-0">
                <MethodTag method={method} />
              </span>
              <span className="min-w-0 flex-1 text-12 text-ink-2">
                <span className="line-clamp-2 text-ink">{summary}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  ))
}
