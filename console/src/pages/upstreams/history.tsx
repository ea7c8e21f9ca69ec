/** The saved changes, each with its author and a way back. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { routingQueries, type HistoryEntry } from '../../api/queries/routing.ts'
import { useWrite } from '../../api/write.ts'
import { clock, day } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { useZone } from '../../time/zone.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { failureText } from '../../ui/failure.ts'
import { TextLink } from '../../ui/link.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { LockTag } from '../../ui/tag.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { withChange, type Change } from './draft.ts'
import { useDraft } from './draft-store.ts'
import { TOUCHED, useReadStored } from './pending.ts'

const EXPORT = 'torana config export > torana.yaml'

interface ChangeHistoryProps {
  /** The reverse of a change is pending now. */
  readonly onOpened: (change: Pick<Change, 'object' | 'name'>) => void
}

export function ChangeHistory({ onOpened }: ChangeHistoryProps) {
  const say = words.routing.history
  const may = useMay()
  useZone()
  const query = useInfiniteQuery(routingQueries.history())
  const changes = query.data?.pages.flatMap(({ data }) => data)
  return (
    <section
      aria-label={say.title}
      className="flex flex-col border-t border-line px-5 pt-3.5 pb-5 phone:px-0"
    >
      <header className="flex min-h-7 items-center">
        <h2 className="flex-1 text-13 font-semibold">{say.title}</h2>
        {may('audit.read') && <TextLink to={paths.audit()}>{say.audit}</TextLink>}
      </header>
      {query.error !== null && changes === undefined && (
        <Problem error={query.error} retry={() => void query.refetch()} className="px-0!" />
      )}
      {changes === undefined && query.error === null && <LoadingRows rows={3} className="-mx-5" />}
      {changes?.length === 0 && <p className="py-2 text-12 text-ink-2">{say.empty}</p>}
      <ul>
        {changes?.map((change) => (
          <Row key={change.id} change={change} onOpened={onOpened} />
        ))}
      </ul>
      {query.hasNextPage && (
        <Button
          size="small"
          className="mt-2 self-start"
          busy={query.isFetching}
          onClick={() => void query.fetchNextPage()}
        >
          {say.more}
        </Button>
      )}
      <CodeBlock code={EXPORT} className="mt-3.5" />
    </section>
  )
}

function Row({ change, onOpened }: { readonly change: HistoryEntry } & ChangeHistoryProps) {
  const { id, at, by, by_name: name, source, summary, revertible, changed_since: isChanged } = change
  return (
    <li className="flex items-center gap-3 border-b border-line py-2">
      <span className="min-w-0 flex-1 text-12">
        <span className="block truncate text-ink-2">
          <span className="font-semibold text-ink">
            {source.kind === 'file' ? source.file : (name ?? by)}
          </span>{' '}
          {day(at)} {clock(at)}
        </span>
        <span className="line-clamp-2 break-words" title={summary}>
          {summary}
        </span>
      </span>
      {source.kind === 'file' && <LockTag at={source.file} />}
      {id !== null && (revertible || isChanged) && (
        <RevertButton id={id} change={change} onOpened={onOpened} />
      )}
    </li>
  )
}

interface RevertButtonProps extends ChangeHistoryProps {
  readonly id: string
  readonly change: HistoryEntry
}

function RevertButton({ id, change, onOpened }: RevertButtonProps) {
  const say = words.routing.history
  const may = useMay()
  const queries = useQueryClient()
  const readStored = useReadStored()
  const [, setDraft] = useDraft()
  const revert = useWrite('post', '/api/v1/configuration/changes/{id}/revert', TOUCHED)
  /** The objects changed since: the reverse is looked at before it is saved. */
  const open = async (): Promise<void> => {
    try {
      const { changes } = await queries.fetchQuery(routingQueries.reverse(id))
      const opened = await Promise.all(
        changes.map(async (one): Promise<Change> => {
          const stored = await readStored(one)
          const { object, name, entry } = one
          const renameTo = one.object === 'upstream' ? one.rename_to : undefined
          return { object, name, base: stored.base, before: stored.entry, entry, renameTo }
        }),
      )
      setDraft((draft) => opened.reduce(withChange, draft))
      const [first] = opened
      if (first !== undefined) onOpened(first)
      toast(say.opened)
    } catch (error) {
      toast(failureText(error), { mark: 'bad' })
    }
  }
  return (
    <Button
      icon={<Undo2 size={14} aria-hidden />}
      aria-label={say.revertOf(change.summary)}
      writes
      busy={revert.busy}
      why={may('upstreams.write') ? undefined : words.routing.onlyAdmins}
      onClick={() => {
        if (change.changed_since) void open()
        else revert.now({ params: { path: { id } } }, () => toast(say.reverted))
      }}
    >
      {say.revert}
    </Button>
  )
}
