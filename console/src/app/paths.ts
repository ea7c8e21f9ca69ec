/** The address of every page, typed by the `place.ts` of its folder. No address is written by hand. */
import type { AnyRoute } from '@tanstack/react-router'
import type { Address } from '../ui/link.tsx'
import type { SearchOf } from './place.ts'
import * as places from './places.ts'

type Places = typeof places
export type PlaceName = keyof Places

type ParamsOf<Name extends PlaceName> = Places[Name]['types']['allParams']

/** An id of several parts is one text: `search/indexer`. */
type IdOf<Params> = NonNullable<Params[keyof Params]>

/** `paths.keys({ state: 'tidy' })`, `paths.key('search/indexer', { tab: 'usage' })`. */
type PathOf<Name extends PlaceName> = keyof ParamsOf<Name> extends never
  ? (search?: SearchOf<Places[Name]>) => Address
  : (id: IdOf<ParamsOf<Name>>, search?: SearchOf<Places[Name]>) => Address

export const paths = Object.fromEntries(
  Object.entries<AnyRoute>(places).map(([name, route]) => [name, pathOf(route)]),
) as { readonly [Name in PlaceName]: PathOf<Name> }

function pathOf({ options }: AnyRoute) {
  const to: string = 'path' in options ? options.path : '/'
  const names = Array.from(to.matchAll(/\$(\w+)/g), ([, name]) => name)
  if (names.length === 0) return (search: object = {}): Address => ({ to, params: {}, search })
  const separator = options.staticData?.separator
  return (id: string, search: object = {}): Address => {
    const at = separator === undefined ? id.length : id.indexOf(separator)
    const parts = [id.slice(0, at), id.slice(at + 1)]
    return { to, params: Object.fromEntries(names.map((name, index) => [name, parts[index]])), search }
  }
}
