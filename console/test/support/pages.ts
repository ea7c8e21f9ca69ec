/** The pages that the tests open, as the places of the console name them. */
import { createMemoryHistory, createRouter, type AnyRoute } from '@tanstack/react-router'
import { paths, type PlaceName } from '../../src/app/paths.ts'
import * as places from '../../src/app/places.ts'
import { routeTree } from '../../src/app/route-tree.ts'
import { parseSearch, stringifySearch } from '../../src/app/search.ts'
import type { Address } from '../../src/ui/link.tsx'
import { places as titles } from '../../src/words/en/places.ts'

const router = createRouter({ routeTree, history: createMemoryHistory(), parseSearch, stringifySearch })

/** `/keys/search/indexer?tab=usage`, of `paths.key('search/indexer', { tab: 'usage' })`. */
export function hrefOf(address: Address): string {
  return router.buildLocation(address).href
}

/** Places that show one thing by its id. A test that opens every page has to name an example of each. */
export type PlaceOfOne = {
  [Name in PlaceName]: (typeof paths)[Name] extends () => Address ? never : Name
}[PlaceName]

/** Places without an id, by name. */
export const LISTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries<AnyRoute>(places)
    .map(([name, { options }]) => [name, 'path' in options ? String(options.path) : '/'] as const)
    .filter(([, path]) => !path.includes('$')),
)

/** Pages of the sidebar, with the heading that each has in English, and its letter after `g`. */
export const TITLED: readonly (readonly [path: string, title: string, letter: string])[] =
  Object.entries<AnyRoute>(places).flatMap(([name, { options }]) => {
    const navigation = options.staticData?.navigation
    const section = navigation?.sections?.[0]?.id
    const path = section === undefined ? LISTS[name] : hrefOf(paths.settings('general'))
    return navigation && path !== undefined ? [[path, titles[navigation.title], navigation.key] as const] : []
  })
