import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ListChecks } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { oneOf, searchOf } from '../../app/search.ts'

export const batches = createRoute({
  getParentRoute: () => shellRoute,
  path: '/batches',
  validateSearch: searchOf({
    state: oneOf('open', 'in_progress', 'cancelling', 'completed', 'failed', 'expired', 'cancelled'),
  }),
  component: lazyRouteComponent(() => import('./batches-page.tsx'), 'BatchesPage'),
  staticData: {
    navigation: {
      title: 'batches',
      icon: ListChecks,
      group: 'first',
      position: 3,
      key: 't',
      permission: 'batches.read',
      actions: [{ id: 'newBatch', path: '/batches/new', permission: 'playground.run' }],
    },
  },
})

export const batch = createRoute({
  getParentRoute: () => shellRoute,
  path: '/batches/$id',
  component: lazyRouteComponent(() => import('./batch-page.tsx'), 'BatchPage'),
})
