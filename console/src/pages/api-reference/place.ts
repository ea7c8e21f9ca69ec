import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../app/place.ts'
import { oneOf, searchOf, text } from '../../app/search.ts'

export const apiReference = createRoute({
  getParentRoute: () => shellRoute,
  path: '/api-reference',
  validateSearch: searchOf({ api: oneOf('gateway', 'control'), q: text(), operation: text() }),
  component: lazyRouteComponent(() => import('./api-reference-page.tsx'), 'ApiReferencePage'),
})
