/** Saved views as chips: the four that are always there, and the person's own. */
import { Bookmark, X } from 'lucide-react'
import { useState } from 'react'
import { useChangeSearch } from '../../app/change-search.ts'
import { count } from '../../app/format.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { ViewChip } from '../../ui/filter-chip.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { words } from '../../words/words.ts'
import { builtInViews, hasFilters, isView, NO_FILTERS, type RequestSearch } from './filters.ts'
import { MOST_VIEWS, useSavedViews } from './saved-views.ts'

interface ViewsProps {
  readonly search: RequestSearch
  /** How many of the range failed. */
  readonly failed: number | undefined
  readonly saves?: boolean
}

export function Views({ search, failed, saves = true }: ViewsProps) {
  const change = useChangeSearch<RequestSearch>()
  const { views, isFull, save, forget } = useSavedViews()
  const builtIn = builtInViews()
  const isKnown = [...builtIn, ...views].some((view) => isView(view, search))
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
        <span key={view.name} className="inline-flex items-center">
          <ViewChip chosen={isView(view, search)} onSelect={() => change({ ...NO_FILTERS, ...view.search })}>
            {view.name}
          </ViewChip>
          {isView(view, search) && (
            <button
              type="button"
              aria-label={words.requests.forgetView(view.name)}
              className="p-1 text-ink-3 hover:text-ink"
              onClick={() => forget(view.name)}
            >
              <X size={12} strokeWidth={2.25} aria-hidden />
            </button>
          )}
        </span>
      ))}
      {saves && (
        <SaveView
          canSave={hasFilters(search) && !isKnown && !isFull}
          hint={isFull ? words.requests.viewsFull(MOST_VIEWS) : undefined}
          onSave={(name) => save(name, search)}
        />
      )}
    </>
  )
}

interface SaveViewProps {
  readonly canSave: boolean
  readonly hint: string | undefined
  readonly onSave: (name: string) => Promise<void>
}

function SaveView({ canSave, hint, onSave }: SaveViewProps) {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const close = (): void => {
    setName('')
    setOpen(false)
  }
  return (
    <>
      <button
        type="button"
        disabled={!canSave}
        title={hint}
        className="inline-flex h-6 items-center gap-1.5 rounded-chip border border-dashed border-line-strong/60 px-2 text-12 whitespace-nowrap text-ink-2 hover:bg-hover disabled:text-ink-3"
        onClick={() => setOpen(true)}
      >
        <Bookmark size={12} strokeWidth={2.25} aria-hidden />
        {words.requests.views.save}
      </button>
      {isOpen && (
        <FormSheet
          shape="dialog"
          title={words.requests.views.save}
          go={words.requests.saveView}
          onSubmit={() => onSave(name.trim())}
          onClose={close}
        >
          <Field name="name" label={words.requests.viewName}>
            <TextInput required pattern=".*\S.*" maxLength={40} value={name} onChange={setName} />
          </Field>
        </FormSheet>
      )}
    </>
  )
}
