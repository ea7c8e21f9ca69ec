/** The page's search field: `/` leads to it. */
import { Search, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { words } from '../words/words.ts'
import { classes } from './classes.ts'
import { Kbd } from './kbd.tsx'

interface SearchFieldProps {
  readonly label: string
  readonly value: string
  /** Called when one stops typing. */
  readonly onChange: (value: string) => void
  readonly className?: string
}

/** Long enough to type on, short enough not to be noticed. */
const PAUSE_MS = 200

export function SearchField({ label, value, onChange, className }: SearchFieldProps) {
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The address changed elsewhere.
  if (known !== value) {
    setKnown(value)
    setTyped(value)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (next: string, pauseMs: number): void => {
    setTyped(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onChange(next), pauseMs)
  }
  return (
    <span className={classes('relative block w-55 phone:w-full', className)}>
      <Search
        size={14}
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-ink-3"
      />
      <input
        type="search"
        data-page-search
        aria-label={label}
        placeholder={label}
        value={typed}
        className="h-7 w-full rounded-control border border-line bg-surface pr-8 pl-[31px] text-13 outline-none hover:border-line-strong focus:border-accent focus:ring-3 focus:ring-accent/25 phone:h-10 phone:text-15 [&::-webkit-search-cancel-button]:hidden"
        onChange={(event) => change(event.target.value, PAUSE_MS)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') change(typed, 0)
          if (event.key === 'Escape' && typed !== '') {
            event.stopPropagation()
            change('', 0)
          }
        }}
      />
      <span className="absolute inset-y-0 right-2 flex items-center">
        {typed === '' ? (
          <span className="pointer-events-none phone:hidden">
            <Kbd>/</Kbd>
          </span>
        ) : (
          <button
            type="button"
            aria-label={words.ui.clear}
            className="p-1 text-ink-3 hover:text-ink"
            onClick={() => change('', 0)}
          >
            <X size={13} aria-hidden />
          </button>
        )}
      </span>
    </span>
  )
}
