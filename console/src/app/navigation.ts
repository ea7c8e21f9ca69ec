/** The pages that the sidebar, the bar of a phone, the palette and `g` with a letter lead to. */
import type { AnyRoute } from '@tanstack/react-router'
import type { Address } from '../ui/link.tsx'
import { words } from '../words/words.ts'
import { GROUPS, type Navigation, type Section } from './place.ts'
import { paths, type PlaceName } from './paths.ts'
import * as places from './places.ts'

export interface Place extends Omit<Navigation, 'title' | 'sections' | 'phoneTitle'> {
  readonly name: PlaceName
  readonly title: string
  readonly phoneTitle: string | undefined
  readonly to: Address
  readonly sections: readonly (Section & { readonly title: string; readonly to: Address })[]
}

export const PLACES: readonly Place[] = Object.entries<AnyRoute>(places)
  .flatMap(([name, { options }]) => {
    const navigation = options.staticData?.navigation
    return navigation ? [placeOf(name as PlaceName, navigation)] : []
  })
  .toSorted(
    (one, other) => GROUPS.indexOf(one.group) - GROUPS.indexOf(other.group) || one.position - other.position,
  )

export const PLACE_GROUPS = GROUPS.map((group) => ({
  title: group === 'first' ? undefined : words.shell.groups[group],
  places: PLACES.filter((place) => place.group === group),
}))

function placeOf(name: PlaceName, navigation: Navigation): Place {
  const { sections = [], title, phoneTitle, ...rest } = navigation
  const addressOf = paths[name] as (id?: string) => Address
  return {
    ...rest,
    name,
    title: words.places[title],
    phoneTitle: phoneTitle && words.places[phoneTitle],
    to: addressOf(sections[0]?.id),
    sections: sections.map((one) => ({
      ...one,
      title: words.settings.sections[one.id],
      to: addressOf(one.id),
    })),
  }
}
