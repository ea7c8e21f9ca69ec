/** Four views as chips: each sets the filters of the address. */
import { useChangeSearch } from '../../app/change-search.ts'
import { count } from '../../app/format.ts'
import { ViewChip } from '../../ui/filter-chip.tsx'
import { builtInViews, isView, NO_FILTERS, type RequestSearch } from './filters.ts'

interface ViewsProps {
  readonly search: RequestSearch
  /** How many of the range failed. */
  readonly failed: number | undefined
}

export function Views({ search, failed }: ViewsProps) {
  const change = useChangeSearch<RequestSearch>()
  return builtInViews().map((view, index) => (
    <ViewChip
      key={view.name}
      chosen={isView(view, search)}
      count={index === 1 && failed ? count(failed) : undefined}
      onSelect={() => change({ ...NO_FILTERS, ...view.search })}
    >
      {view.name}
    </ViewChip>
  ))
}
