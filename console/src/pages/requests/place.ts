import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { Activity } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { flag, httpStatus, oneOf, range, searchOf, size, text } from '../../app/search.ts'

const filters = {
  ...range,
  outcome: oneOf('answered', 'refused', 'limited', 'failed', 'unknown'),
  kind: oneOf('embedding', 'generation', 'edit', 'image'),
  source: oneOf('callers', 'batches'),
  model: text(),
  deployment: text(),
  key: text(),
  status: httpStatus(),
  fault: text(),
  slower: size(),
  dearer: size(),
  tries: size(),
  client: text(),
  address: text(),
  user: text(),
  /** `<key>:<value>`. */
  tag: text(),
  sort: oneOf('-at', '-duration', '-cost'),
}

export const requests = createRoute({
  getParentRoute: () => shellRoute,
  path: '/requests',
  validateSearch: searchOf({ ...filters, peek: text(), live: flag() }),
  component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
  staticData: {
    navigation: {
      title: 'requests',
      icon: Activity,
      group: 'first',
      position: 2,
      key: 'r',
      permission: 'requests.read',
      actions: [
        { id: 'failedRequests', search: { outcome: 'failed' } },
        { id: 'slowRequests', search: { sort: '-duration' } },
        { id: 'costlyRequests', search: { sort: '-cost' } },
        { id: 'liveTail', search: { live: true } },
      ],
      phoneTitle: 'requests',
    },
  },
})

export const request = createRoute({
  getParentRoute: () => shellRoute,
  path: '/requests/$id',
  validateSearch: searchOf({
    ...filters,
    tab: oneOf('waterfall', 'wire', 'headers', 'ledger', 'job'),
  }),
  component: lazyRouteComponent(() => import('./request-page.tsx'), 'RequestPage'),
})
