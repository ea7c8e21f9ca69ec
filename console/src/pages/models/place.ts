import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { Boxes } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { oneOf, range, searchOf, text, texts } from '../../app/search.ts'

export const models = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models',
  validateSearch: searchOf({
    kind: oneOf('embedding', 'image'),
    q: text(),
    can: texts(),
    upstream: text(),
    health: text(),
    sort: text(),
  }),
  component: lazyRouteComponent(() => import('./models-page.tsx'), 'ModelsPage'),
  staticData: {
    navigation: {
      title: 'models',
      icon: Boxes,
      group: 'first',
      position: 4,
      key: 'm',
      permission: 'models.read',
    },
  },
})

/** `BAAI/bge-m3`. */
export const model = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models/$id',
  validateSearch: searchOf({
    ...range,
    tab: oneOf('capabilities', 'prices', 'routing', 'traffic', 'space'),
    sdk: text(),
  }),
  component: lazyRouteComponent(() => import('./model-page.tsx'), 'ModelPage'),
})
