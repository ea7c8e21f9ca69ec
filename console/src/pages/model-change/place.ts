import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ArrowRightLeft } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { flag, oneOf, searchOf } from '../../app/search.ts'

export const modelChange = createRoute({
  getParentRoute: () => shellRoute,
  path: '/model-change',
  validateSearch: searchOf({ view: oneOf('table'), all: flag() }),
  component: lazyRouteComponent(() => import('./model-change-page.tsx'), 'ModelChangePage'),
  staticData: {
    navigation: {
      title: 'modelChange',
      icon: ArrowRightLeft,
      group: 'run',
      position: 2,
      key: 'c',
      permission: 'models.read',
    },
  },
})
