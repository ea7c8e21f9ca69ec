/** A part of a page that is loaded when it is first shown: a tab, a sheet. */
import { lazy, Suspense, type ComponentType, type ReactNode } from 'react'

export function lazyPart<Props extends object>(
  load: () => Promise<(props: Props) => ReactNode>,
  /** Stands in its place until it is there. */
  meanwhile?: ReactNode,
): (props: Props) => ReactNode {
  const Part = lazy(async () => ({ default: (await load()) as ComponentType<object> }))
  return (props) => (
    <Suspense fallback={meanwhile}>
      <Part {...props} />
    </Suspense>
  )
}
