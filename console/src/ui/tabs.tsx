/** Tabs of a detail page. The chosen one stands in the address, so each is a link. */
import { useEffect, useRef, type ReactNode } from 'react'
import { classes } from './classes.ts'
import { Link, type Address } from './link.tsx'

export interface Tab<Value extends string> {
  readonly value: Value
  readonly label: ReactNode
  readonly to: Address
}

export function Tabs<Value extends string>({
  label,
  tabs,
  value,
  className,
}: {
  readonly label: string
  readonly tabs: readonly Tab<Value>[]
  readonly value: Value
  readonly className?: string
}) {
  const nav = useRef<HTMLElement>(null)
  const at = tabs.findIndex((tab) => tab.value === value)
  useEffect(() => {
    nav.current?.querySelectorAll('a')[at]?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [at])
  return (
    <nav
      ref={nav}
      aria-label={label}
      className={classes('flex gap-5 overflow-x-auto border-b border-line', className)}
    >
      {tabs.map((tab) => (
        <Link
          key={tab.value}
          to={tab.to}
          aria-current={tab.value === value ? 'page' : undefined}
          className={classes(
            '-mb-px border-b-2 py-2 whitespace-nowrap',
            tab.value === value
              ? 'border-ink font-medium text-ink'
              : 'border-transparent text-ink-2 hover:text-ink',
          )}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  )
}
