import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ScrollText } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { searchOf, text, time } from '../../app/search.ts'

export const audit = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: searchOf({
    actor: text(),
    action: text(),
    target: text(),
    from: time(),
    to: time(),
    open: text(),
  }),
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
  staticData: {
    navigation: {
      title: 'audit',
      icon: ScrollText,
      group: 'run',
      position: 5,
      key: 'a',
      permission: 'audit.read',
    },
  },
})
