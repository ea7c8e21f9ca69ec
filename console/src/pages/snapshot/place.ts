import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/place.ts'

/** Its token is behind the `#`, so that no server logs it. */
export const snapshot = createRoute({
  getParentRoute: () => rootRoute,
  path: '/snapshot',
  component: lazyRouteComponent(() => import('./snapshot-page.tsx'), 'SnapshotPage'),
})
