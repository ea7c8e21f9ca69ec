/** The router, with the frame around its pages. */
import { createRouter } from '@tanstack/react-router'
import { BASE } from './base.ts'
import { rootRoute, shellRoute } from './place.ts'
import { NotFound, PageBroke } from './problems.tsx'
import { Root } from './root.tsx'
import { routeTree } from './route-tree.ts'
import { parseSearch, stringifySearch } from './search.ts'
import { Shell } from './shell.tsx'

rootRoute.update({ component: Root, notFoundComponent: NotFound })
shellRoute.update({ component: Shell })

export const router = createRouter({
  routeTree,
  basepath: BASE,
  parseSearch,
  stringifySearch,
  defaultErrorComponent: PageBroke,
  // The frame of a page is there at once, and its chunk is small: nothing flickers.
  defaultPendingMs: 150,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
