/** Links inside of the console. They are real links: middle-click, copy and "open in a new tab" work. */
import { useRouter, type AnyRouter } from '@tanstack/react-router'
import { useCallback, type AnchorHTMLAttributes, type MouseEvent, type ReactNode } from 'react'
import { classes } from './classes.ts'

interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /** Made by `app/paths.ts`. */
  readonly to: string
  readonly children: ReactNode
}

/** Without a look of its own; `className="link"` gives it the usual one. */
export function Link({ to, onClick, children, ...rest }: LinkProps) {
  const router = useRouter()
  return (
    <a
      {...rest}
      href={hrefOf(router, to)}
      onClick={(event) => {
        onClick?.(event)
        if (isPlainClick(event)) {
          event.preventDefault()
          router.history.push(hrefOf(router, to))
        }
      }}
    >
      {children}
    </a>
  )
}

/** A link in running text or in a table. */
export function TextLink({ className, ...rest }: LinkProps) {
  return <Link {...rest} className={classes('link', className)} />
}

/** Goes to an address made by `app/paths.ts`. */
export function useGo(): (to: string, options?: { readonly replace?: boolean }) => void {
  const router = useRouter()
  return useCallback(
    (to, { replace = false } = {}) => {
      const href = hrefOf(router, to)
      if (replace) router.history.replace(href)
      else router.history.push(href)
    },
    [router],
  )
}

/** With the path that the console is served below, and in the scope that is chosen now. */
function hrefOf(router: AnyRouter, to: string): string {
  const { basepath, state } = router
  const project = (state.location.search as Record<string, unknown>)['project']
  const [path = '', query = ''] = to.split('?', 2)
  const search = new URLSearchParams(query)
  if (typeof project === 'string' && !search.has('project')) search.set('project', project)
  // `project=` without a value asks for all.
  if (search.get('project') === '') search.delete('project')
  const text = search.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',')
  return `${basepath.replace(/\/$/, '')}${path}${text === '' ? '' : `?${text}`}`
}

export function isPlainClick(event: MouseEvent): boolean {
  return (
    !event.defaultPrevented &&
    event.button === 0 &&
    !event.metaKey &&
    !event.ctrlKey &&
    !event.shiftKey &&
    !event.altKey
  )
}
