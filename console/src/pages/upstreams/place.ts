import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { Plug } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { flag, oneOf, searchOf, text } from '../../app/search.ts'

export const upstreams = createRoute({
  getParentRoute: () => shellRoute,
  path: '/upstreams',
  validateSearch: searchOf({
    /** Whose routing is shown. */
    model: text(),
    /** On a narrow screen, which has room for one of the two. */
    tab: oneOf('routing'),
    /** Opens the sheet that adds one. */
    new: flag(),
    /** The upstream whose key is replaced, or deleted. */
    replace: text(),
    forget: text(),
  }),
  component: lazyRouteComponent(() => import('./upstreams-page.tsx'), 'UpstreamsPage'),
  staticData: {
    navigation: {
      title: 'upstreams',
      icon: Plug,
      group: 'run',
      position: 0,
      key: 'p',
      permission: 'upstreams.read',
      actions: [{ id: 'connectUpstream', search: { new: true }, permission: 'upstreams.write' }],
    },
  },
})
