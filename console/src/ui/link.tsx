/** Links inside of the console. They are real links: middle-click, copy and "open in a new tab" work. */
import { Link as RouterLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, ReactNode } from 'react'
import { classes } from './classes.ts'

/** Where a link or `useNavigate` leads. `app/paths.ts` makes it. */
export interface Address {
  readonly to: string
  readonly params: object
  readonly search: object
}

interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'target'> {
  readonly to: Address
  readonly target?: '_blank'
  readonly children: ReactNode
}

/** Without a look of its own; `className="link"` gives it the usual one. */
export function Link({ to, ...rest }: LinkProps) {
  return <RouterLink {...to} {...rest} />
}

/** A link in running text or in a table. */
export function TextLink({ className, ...rest }: LinkProps) {
  return <Link {...rest} className={classes('link', className)} />
}
