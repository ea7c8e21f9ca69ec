/** A filter that reads like a sentence: `Outcome failed`, `Slower than 500 ms`. */
import { ChevronDown, Plus, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { words } from '../words/words.ts'
import { classes } from './classes.ts'
import { Menu, MenuChoice } from './menu.tsx'

const CHIP =
  'inline-flex h-6 items-center gap-1.5 rounded-chip border px-2 text-12 whitespace-nowrap transition-colors duration-120 phone:h-8'

export interface FilterOption {
  readonly value: string
  readonly label: ReactNode
  /** How many rows of the range have it. */
  readonly count?: ReactNode
}

interface FilterChipProps {
  readonly label: string
  readonly options: readonly FilterOption[]
  /** Undefined: any. */
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  /** How the value reads in the chip, where not as in the list. */
  readonly shown?: ReactNode
}

export function FilterChip({ label, options, value, onChange, shown }: FilterChipProps) {
  const chosen = options.find((option) => option.value === value)
  return (
    <span className="inline-flex">
      <Menu
        trigger={
          <button
            type="button"
            data-filter
            className={classes(
              CHIP,
              'border-line bg-surface text-ink-2 hover:bg-hover',
              value !== undefined && 'rounded-r-none border-r-0 pr-1',
            )}
          >
            {label}
            <span className="font-semibold text-ink">{shown ?? chosen?.label ?? value ?? words.ui.any}</span>
            {value === undefined && <ChevronDown size={12} strokeWidth={2.25} aria-hidden />}
          </button>
        }
      >
        <MenuChoice chosen={value === undefined} onSelect={() => onChange(undefined)}>
          {words.ui.any}
        </MenuChoice>
        {options.map((option) => (
          <MenuChoice
            key={option.value}
            chosen={option.value === value}
            note={option.count}
            onSelect={() => onChange(option.value)}
          >
            {option.label}
          </MenuChoice>
        ))}
      </Menu>
      {value !== undefined && (
        <button
          type="button"
          aria-label={words.ui.remove(label)}
          className={classes(
            CHIP,
            'rounded-l-none border-line border-l-0 bg-surface px-1.5 pl-0.5 text-ink-3 hover:text-ink',
          )}
          onClick={() => onChange(undefined)}
        >
          <X size={12} strokeWidth={2.25} aria-hidden />
        </button>
      )}
    </span>
  )
}

interface ValueChipProps {
  readonly label: string
  readonly shown: ReactNode
  readonly onRemove: () => void
}

/** A filter whose value is free: it is shown, and can be taken away. */
export function ValueChip({ label, shown, onRemove }: ValueChipProps) {
  return (
    <span className={classes(CHIP, 'border-line bg-surface pr-1 text-ink-2')}>
      {label} <span className="font-semibold text-ink">{shown}</span>
      <button
        type="button"
        aria-label={words.ui.remove(label)}
        className="p-0.5 text-ink-3 hover:text-ink"
        onClick={onRemove}
      >
        <X size={12} strokeWidth={2.25} aria-hidden />
      </button>
    </span>
  )
}

/** Opens the list of filters that are not in use. */
export function AddFilter({
  label = words.ui.filter,
  children,
}: {
  readonly label?: string
  readonly children: ReactNode
}) {
  return (
    <Menu
      trigger={
        <button
          type="button"
          data-filter-menu
          className={classes(CHIP, 'border-dashed border-line-strong/60 text-ink-2 hover:bg-hover')}
        >
          <Plus size={12} strokeWidth={2.25} aria-hidden />
          {label}
        </button>
      }
    >
      {children}
    </Menu>
  )
}

interface ViewChipProps {
  readonly chosen: boolean
  readonly count?: ReactNode
  readonly onSelect: () => void
  readonly children: ReactNode
}

/** A view to choose: `All`, `Failed 41`. */
export function ViewChip({ chosen, count, onSelect, children }: ViewChipProps) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      className={classes(
        CHIP,
        chosen ? 'border-ink font-semibold text-ink' : 'border-line text-ink-2 hover:bg-hover',
      )}
      onClick={onSelect}
    >
      {children}
      {count !== undefined && <span className="tabular-nums text-ink-3">{count}</span>}
    </button>
  )
}
