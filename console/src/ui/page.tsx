/** The frame of every page: a title bar, content, and a side panel where it has one. */
import { ArrowLeft } from 'lucide-react'
import { useEffect, type ReactNode } from 'react'
import { classes } from './classes.ts'
import { Link, type Address } from './link.tsx'
import { Brand } from './brand.tsx'

interface Crumb {
  readonly label: string
  readonly to: Address
}

interface PageProps {
  readonly title: string
  /** What is shown instead of the plain title: an id with a copy button. */
  readonly head?: ReactNode
  /** The pages above it, of a detail page. */
  readonly crumbs?: readonly Crumb[]
  /** Right beside the title: views to choose. */
  readonly beside?: ReactNode
  /** At the right end: buttons, the range of time. */
  readonly actions?: ReactNode
  /** The bar below, 52 high: filters. */
  readonly bar?: ReactNode
  /** At the right, with a line: 316 to 424 wide. It stands below on a phone. */
  readonly side?: ReactNode
  readonly sideWidth?: keyof typeof SIDE_WIDTH
  /** It also stands below where there is room for one wide thing. */
  readonly sideBelowTables?: boolean
  /** At the bottom, with a line. */
  readonly foot?: ReactNode
  /** The page has one table that scrolls by itself, instead of scrolling as a whole. */
  readonly fill?: boolean
  readonly children?: ReactNode
}

const SIDE_WIDTH = {
  316: 'w-79 tight:w-72',
  336: 'w-84 tight:w-76',
  356: 'w-89 tight:w-80',
  380: 'w-95 tight:w-80',
  424: 'w-106 tight:w-80',
  448: 'w-112 tight:w-80',
} as const

export function Page(props: PageProps) {
  const {
    title,
    head,
    crumbs = [],
    beside,
    actions,
    bar,
    side,
    sideWidth = 316,
    sideBelowTables = false,
    foot,
    fill = false,
    children,
  } = props
  // A phone has room for one way back: to the list.
  const [above] = crumbs
  useEffect(() => {
    document.title = `${title} · Torana`
  }, [title])
  return (
    <div className="flex h-full min-h-0 flex-col bg-surface">
      <header className="flex h-12 shrink-0 items-center gap-3 border-b border-line px-6 phone:h-13 phone:gap-2.5 phone:px-4">
        {crumbs.length === 0 && (
          <span className="hidden phone:block">
            <Brand size={20} />
          </span>
        )}
        {above !== undefined && (
          <Link
            to={above.to}
            aria-label={above.label}
            className="-ml-2 hidden size-9 shrink-0 items-center justify-center text-ink-2 phone:flex"
          >
            <ArrowLeft size={18} aria-hidden />
          </Link>
        )}
        <div className={classes('flex min-w-0 items-center gap-2', beside !== undefined && 'shrink-0')}>
          {crumbs.map((crumb) => (
            <span key={crumb.label} className="flex shrink-0 items-center gap-2 text-ink-3 phone:hidden">
              <Link to={crumb.to} className="text-ink-2 hover:text-ink">
                {crumb.label}
              </Link>
              /
            </span>
          ))}
          <h1
            dir="auto"
            title={title}
            className={classes(
              'flex min-w-0 items-center gap-2 truncate text-15 font-semibold phone:text-[16px]',
              beside !== undefined && 'shrink-0',
            )}
          >
            {head ?? title}
          </h1>
        </div>
        {beside !== undefined && (
          <div className="flex min-w-0 items-center gap-1 overflow-x-auto [scrollbar-width:none] phone:hidden">
            {beside}
          </div>
        )}
        <div className="ml-auto flex shrink-0 items-center gap-3 phone:gap-2">{actions}</div>
      </header>
      <div
        data-scroll
        className={classes(
          'flex min-h-0 flex-1 phone:flex-col phone:overflow-y-auto',
          sideBelowTables && 'tight:flex-col tight:overflow-y-auto',
        )}
      >
        <div
          className={classes(
            'flex min-w-0 flex-1 flex-col phone:flex-none',
            sideBelowTables && 'tight:flex-none',
          )}
        >
          {bar !== undefined && (
            <div className="flex min-h-13 shrink-0 flex-wrap items-center gap-2 px-6 py-2.5 phone:px-4">
              {bar}
            </div>
          )}
          <div
            data-scroll={fill ? undefined : true}
            className={classes(
              'min-h-0 flex-1',
              fill ? 'flex flex-col phone:overflow-visible' : 'overflow-y-auto phone:overflow-visible',
              sideBelowTables && 'tight:overflow-visible',
            )}
          >
            {children}
          </div>
          {foot !== undefined && (
            <footer className="flex min-h-13 shrink-0 flex-wrap items-center gap-4 border-t border-line px-6 py-2 text-12 text-ink-2 phone:px-4">
              {foot}
            </footer>
          )}
        </div>
        {side !== undefined && side !== false && (
          <aside
            className={classes(
              'shrink-0 overflow-y-auto border-l border-line phone:w-full phone:border-t phone:border-l-0',
              SIDE_WIDTH[sideWidth],
              sideBelowTables && 'tight:w-full tight:border-t tight:border-l-0',
            )}
          >
            {side}
          </aside>
        )}
      </div>
    </div>
  )
}

interface SectionProps {
  readonly title: ReactNode
  readonly note?: ReactNode
  readonly actions?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}

/** A part of a page or of its side panel, with a head. */
export function Section({ title, note, actions, className, children }: SectionProps) {
  return (
    <section className={classes('flex flex-col', className)}>
      <header className="flex min-h-7 items-center gap-2.5 phone:flex-wrap">
        <h2 className="text-13 font-semibold">{title}</h2>
        {note !== undefined && <span className="text-12 text-ink-3">{note}</span>}
        {actions !== undefined && <div className="ml-auto flex items-center gap-2">{actions}</div>}
      </header>
      {children}
    </section>
  )
}

/** Name and value in two columns, of a side panel. */
export function Facts({
  facts,
  labelWidth = 82,
}: {
  readonly facts: readonly (readonly [name: ReactNode, value: ReactNode])[]
  readonly labelWidth?: number
}) {
  return (
    <dl className="flex flex-col gap-[7px] text-12">
      {facts.map(([name, value], index) => (
        <div key={index} className="flex items-start">
          <dt className="shrink-0 leading-[18px] text-ink-3" style={{ width: labelWidth }}>
            {name}
          </dt>
          <dd className="min-w-0 flex-1 leading-[18px] break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
