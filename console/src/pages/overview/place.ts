import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { LayoutDashboard } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { oneOf, range, searchOf } from '../../app/search.ts'

export const overview = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: searchOf({
    ...range,
    metric: oneOf('requests', 'tokens', 'images', 'usd'),
    view: oneOf('picture', 'table'),
  }),
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
  staticData: {
    navigation: {
      title: 'overview',
      icon: LayoutDashboard,
      group: 'first',
      position: 1,
      key: 'o',
      permission: 'overview.read',
      phoneTitle: 'overview',
    },
  },
})
