/** Grey bars in the size of what is coming. They appear after 150 ms: what is quick does not flicker. */
import { words } from '../words/words.ts'
import { classes } from './classes.ts'

export function Bar({ className }: { readonly className?: string }) {
  return <span className={classes('appearing-late block h-2.5 rounded-chip bg-tag', className)} />
}

/** The look of what answers an earlier question, while the answer to this one is loading. */
export const STALE = 'opacity-45 transition-opacity delay-150'

const WIDTHS = ['w-2/5', 'w-3/5', 'w-1/2', 'w-1/3', 'w-2/3'] as const

/** Rows of a list that is not a table. */
export function LoadingRows({
  rows = 6,
  className,
}: {
  readonly rows?: number
  readonly className?: string
}) {
  return (
    <div role="status" aria-label={words.ui.loading} className={classes('flex flex-col', className)}>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="flex h-9 items-center border-b border-line px-6 phone:px-4">
          <Bar className={WIDTHS[index % WIDTHS.length] ?? 'w-1/2'} />
        </div>
      ))}
    </div>
  )
}

/** The width of a bar in row `row` and column `column`. */
export function barWidth(row: number, column: number): string {
  return WIDTHS[(row * 3 + column) % WIDTHS.length] ?? 'w-1/2'
}
