import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { CircleHelp } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { oneOf, searchOf, text } from '../../app/search.ts'

export const unknowns = createRoute({
  getParentRoute: () => shellRoute,
  path: '/unknowns',
  validateSearch: searchOf({
    state: oneOf('open', 'resolved'),
    /** `<request>/<attempt>`. */
    open: text(),
  }),
  component: lazyRouteComponent(() => import('./unknowns-page.tsx'), 'UnknownsPage'),
  staticData: {
    navigation: {
      title: 'unknowns',
      icon: CircleHelp,
      group: 'money',
      position: 3,
      key: 'n',
      permission: 'unknowns.read',
    },
  },
})
