import type { ReactNode } from 'react'
import { classes } from './classes.ts'

/** A key of the keyboard. Phones have none. */
export function Kbd({ children, onInk = false }: { readonly children: ReactNode; readonly onInk?: boolean }) {
  return (
    <kbd
      className={classes(
        'inline-flex h-[18px] min-w-[18px] phone:hidden items-center justify-center rounded-chip border px-1 font-sans text-11 font-normal',
        onInk ? 'border-surface/40 text-surface' : 'border-line bg-surface text-ink-3',
      )}
    >
      {children}
    </kbd>
  )
}

const isApple = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '')

/** `⌘K`, or `Ctrl K` where there is no ⌘. */
export function withCommand(key: string): string {
  return isApple ? `⌘${key}` : `Ctrl ${key}`
}
