/** Saved views as chips: the four that are always there, and the person's own. */
import { Popover } from '@base-ui/react/popover'
import { Bookmark, X } from 'lucide-react'
import { useState } from 'react'
import { useChangeSearch } from '../../app/change-search.ts'
import { count } from '../../app/format.ts'
import { Button } from '../../ui/button.tsx'
import { ViewChip } from '../../ui/filter-chip.tsx'
import { layer } from '../../ui/layers.ts'
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

function SaveView({
  canSave,
  hint,
  onSave,
}: {
  readonly canSave: boolean
  readonly hint: string | undefined
  readonly onSave: (name: string) => void
}) {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger
        disabled={!canSave}
        title={hint}
        className="inline-flex h-6 items-center gap-1.5 rounded-chip border border-dashed border-line-strong/60 px-2 text-12 whitespace-nowrap text-ink-2 hover:bg-hover disabled:text-ink-3"
      >
        <Bookmark size={12} strokeWidth={2.25} aria-hidden />
        {words.requests.views.save}
      </Popover.Trigger>
      <Popover.Portal container={layer('menus')}>
        <Popover.Positioner align="start" sideOffset={4}>
          <Popover.Popup className="appearing rounded-panel border border-line bg-raised p-3 text-ink shadow-menu">
            <form
              className="flex items-end gap-2"
              onSubmit={(event) => {
                event.preventDefault()
                if (name.trim() === '') return
                onSave(name.trim().slice(0, 40))
                setName('')
                setOpen(false)
              }}
            >
              <label className="flex flex-col gap-1 text-12 text-ink-2">
                {words.requests.viewName}
                <input
                  value={name}
                  maxLength={40}
                  className="h-8 w-44 rounded-control border border-line-strong bg-surface px-2 text-13"
                  onChange={(event) => setName(event.target.value)}
                />
              </label>
              <Button type="submit" look="primary" size="large">
                {words.requests.saveView}
              </Button>
            </form>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}
