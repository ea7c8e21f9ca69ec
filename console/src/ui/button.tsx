/** Buttons. A page has one primary button; destructive ones are outlined in red until they may be pressed. */
import { useContext, type ButtonHTMLAttributes, type ReactNode, type Ref } from 'react'
import { BlockedWrites } from './blocked-writes.ts'
import { classes } from './classes.ts'
import { Link, type Address } from './link.tsx'
import { Tip } from './tooltip.tsx'

export type ButtonLook = 'primary' | 'plain' | 'quiet' | 'danger'
export type ButtonSize = 'small' | 'normal' | 'large'

const BASE =
  'inline-flex shrink-0 items-center justify-center gap-1.5 whitespace-nowrap rounded-control font-medium transition-colors duration-120 select-none disabled:text-ink-3 aria-disabled:text-ink-3'
const DISABLED_BOX =
  'disabled:border-line disabled:bg-sunken aria-disabled:border-line aria-disabled:bg-sunken'
const LOOKS: Record<ButtonLook, string> = {
  primary: `bg-ink text-surface border border-ink hover:bg-ink/88 ${DISABLED_BOX}`,
  plain: `bg-surface text-ink border border-line hover:bg-hover [&>svg]:text-ink-3 ${DISABLED_BOX}`,
  quiet:
    'text-ink-2 border border-transparent hover:bg-hover hover:text-ink disabled:bg-transparent aria-disabled:bg-transparent',
  danger: `bg-surface text-bad border border-line hover:bg-bad-tint ${DISABLED_BOX}`,
}
const SIZES: Record<ButtonSize, string> = {
  small: 'h-6 px-2 text-12',
  normal: 'h-7 px-2.5 text-13 phone:h-9',
  large: 'h-8 px-3 text-13 phone:h-10',
}
/** An icon alone. */
const SQUARES: Record<ButtonSize, string> = {
  small: 'size-6',
  normal: 'size-7 phone:size-9',
  large: 'size-8 phone:size-10',
}

export function buttonClasses(
  look: ButtonLook = 'plain',
  size: ButtonSize = 'normal',
  className?: string,
): string {
  return classes(BASE, LOOKS[look], SIZES[size], className)
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: ButtonLook
  readonly size?: ButtonSize
  readonly icon?: ReactNode
  /** Something is under way: it can't be pressed, and says so. */
  readonly busy?: boolean
  /** Why it can't be pressed. It stays in the order of focus, so that everybody can read why. */
  readonly why?: string | undefined
  /** It changes something at the node. By itself: it submits a form, or is destructive. */
  readonly writes?: boolean
  readonly ref?: Ref<HTMLButtonElement>
}

export function Button({
  look,
  size,
  icon,
  busy = false,
  why: ownReason,
  writes,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const blocked = useContext(BlockedWrites)
  const isWriting = writes ?? (rest.type === 'submit' || look === 'danger')
  const why = ownReason ?? (isWriting ? blocked : undefined)
  const button = (
    <button
      type="button"
      {...rest}
      aria-disabled={busy || why !== undefined || undefined}
      aria-busy={busy || undefined}
      className={buttonClasses(look, size, className)}
      onClick={(event) => {
        if (busy || why !== undefined) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {icon}
      {children}
    </button>
  )
  return why === undefined ? button : <Tip text={why}>{button}</Tip>
}

interface ButtonLinkProps {
  readonly to: Address
  readonly look?: ButtonLook
  readonly size?: ButtonSize
  readonly icon?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}

/** A link that looks like a button. */
export function ButtonLink({ to, look, size, icon, className, children }: ButtonLinkProps) {
  return (
    <Link to={to} className={buttonClasses(look, size, className)}>
      {icon}
      {children}
    </Link>
  )
}

interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon' | 'writes'> {
  readonly label: string
  readonly children: ReactNode
}

/** An icon alone has a label, which is also its tooltip. */
export function IconButton({
  label,
  look = 'quiet',
  size = 'normal',
  className,
  children,
  why,
  ...rest
}: IconButtonProps) {
  return (
    <Tip text={why ?? label}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        aria-disabled={why !== undefined || undefined}
        className={classes(BASE, LOOKS[look], SQUARES[size], className)}
        {...(why !== undefined && { onClick: (event) => event.preventDefault() })}
      >
        {children}
      </button>
    </Tip>
  )
}
