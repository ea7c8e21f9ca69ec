/** One field that finds a request by whatever its caller knows of it. `/` leads to it. */
import { Combobox } from '@base-ui/react/combobox'
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useState } from 'react'
import type { Histogram } from '../../api/queries/requests.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { paths } from '../../app/paths.ts'
import { Kbd } from '../../ui/kbd.tsx'
import { usePopupLayer } from '../../ui/layers.ts'
import { MENU, MENU_ITEM } from '../../ui/menu-look.ts'
import { words } from '../../words/words.ts'
import { findingsFor, type Finding } from './find.ts'
import type { FilterName, RequestSearch } from './filters.ts'

/** An index finds these, so the whole log is looked through. */
const WHOLE_LOG: ReadonlySet<FilterName> = new Set<FilterName>(['client', 'user'])

export function FindField({ facets }: { readonly facets: Histogram['facets'] | undefined }) {
  const change = useChangeSearch<RequestSearch>()
  const navigate = useNavigate()
  const container = usePopupLayer()
  const [typed, setTyped] = useState('')
  const findings = findingsFor(typed, facets)
  const choose = (finding: Finding | null): void => {
    if (finding === null) return
    setTyped('')
    if (finding.kind === 'request') void navigate(paths.request(finding.id))
    else
      change({
        [finding.name]: finding.value,
        ...(WHOLE_LOG.has(finding.name) && { since: '30d', from: undefined, to: undefined }),
      })
  }
  const { find } = words.requests
  return (
    <Combobox.Root<Finding>
      items={findings}
      filter={null}
      autoHighlight
      value={null}
      inputValue={typed}
      open={findings.length > 0}
      onInputValueChange={(next, { reason }) => {
        if (reason === 'input-change' || reason === 'input-clear') setTyped(next)
      }}
      onOpenChange={(isOpen, { reason }) => {
        if (!isOpen && reason === 'escape-key') setTyped('')
      }}
      onValueChange={choose}
    >
      <span className="relative block w-56 phone:w-full">
        <Search
          size={13}
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-2 -translate-y-1/2 text-ink-3"
        />
        <Combobox.Input
          data-page-search
          aria-label={find.label}
          placeholder={find.label}
          spellCheck={false}
          className="h-6 w-full rounded-chip border border-line bg-surface pr-7 pl-7 text-12 outline-none hover:border-line-strong focus:border-accent focus:ring-3 focus:ring-accent/25 phone:h-9 phone:text-15"
        />
        {typed === '' && (
          <span className="pointer-events-none absolute inset-y-0 right-1.5 flex items-center phone:hidden">
            <Kbd>/</Kbd>
          </span>
        )}
      </span>
      <Combobox.Portal container={container}>
        <Combobox.Positioner sideOffset={4} className="outline-none">
          <Combobox.Popup className={MENU}>
            <Combobox.List>
              {(finding: Finding) => (
                <Combobox.Item key={keyOf(finding)} value={finding} className={MENU_ITEM}>
                  <span className="shrink-0 text-ink-3">
                    {finding.kind === 'request' ? find.request : words.requests.filters[finding.name]}
                  </span>
                  <span className="min-w-0 flex-1 truncate font-medium">
                    <bdi>{finding.kind === 'request' ? finding.id : finding.value}</bdi>
                  </span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}

function keyOf(finding: Finding): string {
  return finding.kind === 'request' ? finding.id : `${finding.name} ${finding.value}`
}
