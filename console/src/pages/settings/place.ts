import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { Settings } from 'lucide-react'
import { shellRoute } from '../../app/place.ts'
import { flag, searchOf } from '../../app/search.ts'
import { SECTIONS } from './sections.ts'

export const settings = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings/$section',
  params: {
    // Undefined: there is no such section.
    parse: ({ section }) => ({ section: SECTIONS.find(({ id }) => id === section)?.id }),
  },
  validateSearch: searchOf({ new: flag(), password: flag() }),
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
  staticData: {
    navigation: {
      title: 'settings',
      icon: Settings,
      group: 'run',
      position: 6,
      key: 's',
      sections: SECTIONS,
    },
  },
})
