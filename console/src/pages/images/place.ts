import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { Image } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { oneOf, searchOf, text } from '../../app/search.ts'

export const images = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground/images',
  validateSearch: searchOf({
    mode: oneOf('generate', 'edit'),
    model: text(),
    /** An asset to begin with. */
    from: text(),
    view: oneOf('mask', 'pair', 'changed'),
  }),
  component: lazyRouteComponent(() => import('./images-page.tsx'), 'ImagesPage'),
  staticData: {
    navigation: {
      title: 'images',
      icon: Image,
      group: 'playground',
      position: 2,
      key: 'i',
      permission: 'playground.run',
      actions: [
        { id: 'generateImage', search: { mode: 'generate' } },
        { id: 'paintMask', search: { mode: 'edit' } },
      ],
    },
  },
})
