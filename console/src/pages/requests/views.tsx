/** Views as chips: the four that are always there, the person's own, and those that members of a project share. */
import { useQuery } from '@tanstack/react-query'
import { Bookmark, Users, X } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { shellQueries } from '../../api/queries/shell.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { count } from '../../app/format.ts'
import { useSession } from '../../app/session.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { ViewChip } from '../../ui/filter-chip.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { Select } from '../../ui/select.tsx'
import { words } from '../../words/words.ts'
import { builtInViews, hasFilters, isView, NO_FILTERS, type RequestSearch } from './filters.ts'
import { MOST_VIEWS, useSavedViews, useSharedViews, type SharedView } from './saved-views.ts'

interface ViewsProps {
  readonly search: RequestSearch
  /** How many of the range failed. */
  readonly failed: number | undefined
  readonly saves?: boolean
}

export function Views({ search, failed, saves = true }: ViewsProps) {
  const change = useChangeSearch<RequestSearch>()
  const { views, isFull, save, forget } = useSavedViews()
  const shared = useSharedViews(search.project)
  const builtIn = builtInViews()
  const isShown = (view: SharedView): boolean => isView(view, search) && view.project === search.project
  const isKnown = [...builtIn, ...views].some((view) => isView(view, search)) || shared.views.some(isShown)
  return (
    <>
      {builtIn.map((view, index) => (
        <ViewChip
          key={view.name}
          chosen={isView(view, search)}
          count={index === 1 && failed ? count(failed) : undefined}
          onSelect={() => change({ ...NO_FILTERS, ...view.search })}
        >
          {view.name}
        </ViewChip>
      ))}
      {views.map((view) => (
        <KeptView
          key={view.name}
          name={view.name}
          isChosen={isView(view, search)}
          onSelect={() => change({ ...NO_FILTERS, ...view.search })}
          onForget={() => forget(view.name)}
        />
      ))}
      {shared.views.map((view) => (
        <KeptView
          key={view.id}
          name={view.name}
          icon={
            <span title={words.requests.sharedView(view.project, view.maker)}>
              <Users
                size={12}
                strokeWidth={2.25}
                aria-label={words.requests.sharedView(view.project, view.maker)}
              />
            </span>
          }
          isChosen={isShown(view)}
          onSelect={() => change({ ...NO_FILTERS, ...view.search, project: view.project })}
          {...(view.mayDelete && { onForget: () => shared.unshare(view.id) })}
        />
      ))}
      {saves && (
        <SaveView
          canSave={hasFilters(search) && !isKnown}
          isFull={isFull}
          project={search.project}
          onSave={(name, project) =>
            project === undefined ? save(name, search) : shared.share(project, name, search)
          }
        />
      )}
    </>
  )
}

interface KeptViewProps {
  readonly name: string
  readonly icon?: ReactNode
  readonly isChosen: boolean
  readonly onSelect: () => void
  /** Undefined: the person may not delete it. */
  readonly onForget?: () => void
}

function KeptView({ name, icon, isChosen, onSelect, onForget }: KeptViewProps) {
  return (
    <span className="inline-flex items-center">
      <ViewChip chosen={isChosen} onSelect={onSelect}>
        {icon}
        {name}
      </ViewChip>
      {isChosen && onForget !== undefined && (
        <button
          type="button"
          aria-label={words.requests.forgetView(name)}
          className="p-1 text-ink-3 hover:text-ink"
          onClick={onForget}
        >
          <X size={12} strokeWidth={2.25} aria-hidden />
        </button>
      )}
    </span>
  )
}

interface SaveViewProps {
  readonly canSave: boolean
  /** There is no room for another view of one's own. */
  readonly isFull: boolean
  /** In scope. */
  readonly project: string | undefined
  /** `project` undefined: for oneself. */
  readonly onSave: (name: string, project: string | undefined) => Promise<void>
}

/** No project is called so: names begin with a letter or a digit. */
const ONLY_ME = '.me'

function SaveView({ canSave, isFull, project, onSave }: SaveViewProps) {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<string>()
  const { projects: own } = useSession()
  const listed = useQuery({ ...shellQueries.projects(), enabled: isOpen })
  const projects = listed.data?.data.map((one) => one.name) ?? own ?? []
  const audience = chosen ?? (isFull ? (project ?? '') : ONLY_ME)
  const say = words.requests
  const close = (): void => {
    setName('')
    setChosen(undefined)
    setOpen(false)
  }
  return (
    <>
      <button
        type="button"
        disabled={!canSave}
        className="inline-flex h-6 items-center gap-1.5 rounded-chip border border-dashed border-line-strong/60 px-2 text-12 whitespace-nowrap text-ink-2 hover:bg-hover disabled:text-ink-3"
        onClick={() => setOpen(true)}
      >
        <Bookmark size={12} strokeWidth={2.25} aria-hidden />
        {say.views.save}
      </button>
      {isOpen && (
        <FormSheet
          shape="dialog"
          title={say.views.save}
          go={say.saveView}
          why={isFull && (audience === ONLY_ME || audience === '') ? say.viewsFull(MOST_VIEWS) : undefined}
          onSubmit={() => onSave(name.trim(), audience === ONLY_ME ? undefined : audience)}
          onClose={close}
        >
          <Field name="name" label={say.viewName}>
            <TextInput required pattern=".*\S.*" maxLength={40} value={name} onChange={setName} />
          </Field>
          <Field name="project" label={say.viewFor}>
            <Select
              value={audience}
              options={[
                { value: ONLY_ME, label: say.viewForMe },
                ...projects.map((value) => ({ value, label: say.viewForProject(value) })),
              ]}
              onChange={setChosen}
            />
          </Field>
        </FormSheet>
      )}
    </>
  )
}
