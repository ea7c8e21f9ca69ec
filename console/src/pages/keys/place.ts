import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { KeyRound } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { flag, oneOf, range, searchOf, text, usageMeasure } from '../../app/search.ts'

export const keys = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: searchOf({
    q: text(),
    state: oneOf('active', 'ending', 'tidy', 'revoked'),
    new: flag(),
    sort: oneOf('id', '-used', 'ends'),
  }),
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
  staticData: {
    navigation: {
      title: 'keys',
      icon: KeyRound,
      group: 'run',
      position: 4,
      key: 'k',
      permission: 'keys.read',
      actions: [{ id: 'newKey', search: { new: true }, permission: 'keys.create' }],
    },
  },
})

/** `search/indexer`. */
export const key = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys/$project/$name',
  validateSearch: searchOf({ ...range, tab: oneOf('terms', 'requests', 'usage'), show: usageMeasure }),
  component: lazyRouteComponent(() => import('./key-page.tsx'), 'KeyPage'),
  staticData: { separator: '/' },
})
