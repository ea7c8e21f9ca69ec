import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { Bell } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { flag, oneOf, searchOf, text } from '../../app/search.ts'

export const alerts = createRoute({
  getParentRoute: () => shellRoute,
  path: '/alerts',
  validateSearch: searchOf({
    state: oneOf('open', 'resolved'),
    all: flag(),
    /** The incident whose timeline is open. */
    incident: text(),
    /** A new rule of this kind is open in the sheet, if the node has the kind. */
    new: text(),
  }),
  component: lazyRouteComponent(() => import('./alerts-page.tsx'), 'AlertsPage'),
  staticData: {
    navigation: {
      title: 'alerts',
      icon: Bell,
      group: 'run',
      position: 3,
      key: 'l',
      permission: 'alerts.read',
      actions: [{ id: 'newAlert' }],
    },
  },
})
