import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../app/place.ts'

/** Any id. */
export const go = createRoute({
  getParentRoute: () => shellRoute,
  path: '/go/$id',
  component: lazyRouteComponent(() => import('./go-page.tsx'), 'GoPage'),
})
