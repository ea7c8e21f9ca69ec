import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ChartScatter } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { oneOf, searchOf, size, text } from '../../app/search.ts'

export const embeddings = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground/embeddings',
  // Never texts: people send addresses to colleagues, and servers log them.
  validateSearch: searchOf({
    model: text(),
    view: oneOf('map', 'similarity', 'search', 'compare', 'types', 'raw', 'code'),
    width: size(),
    against: text(),
    sdk: text(),
    keep: oneOf('90', '95', '99'),
    type: oneOf('float16', 'int8', 'binary'),
  }),
  component: lazyRouteComponent(() => import('./embeddings-page.tsx'), 'EmbeddingsPage'),
  staticData: {
    navigation: {
      title: 'embeddings',
      icon: ChartScatter,
      group: 'playground',
      position: 1,
      key: 'e',
      permission: 'playground.run',
      actions: [
        { id: 'mapTexts', search: { view: 'map' } },
        { id: 'compareModels', search: { view: 'compare' } },
        { id: 'smallerVectors', search: { view: 'types' } },
      ],
    },
  },
})
