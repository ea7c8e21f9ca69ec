/** The pages that the sidebar, the bar of a phone, the palette and `g` with a letter lead to. */
import type { AnyRoute } from '@tanstack/react-router'
import type { Address } from '../ui/link.tsx'
import { words } from '../words/words.ts'
import { GROUPS, type Action, type Navigation, type Section } from './place.ts'
import { paths, type PlaceName } from './paths.ts'
import * as places from './places.ts'

export interface Place extends Omit<Navigation, 'title' | 'sections' | 'phoneTitle' | 'actions'> {
  readonly name: PlaceName
  readonly title: string
  readonly phoneTitle: string | undefined
  readonly to: Address
  readonly sections: readonly (Omit<Section, 'actions'> & {
    readonly title: string
    readonly to: Address
    readonly actions: readonly PlaceAction[]
  })[]
  readonly actions: readonly PlaceAction[]
}

type PlaceAction = Omit<Action, 'search' | 'path'> & { readonly to: Address }

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
  const { sections = [], actions = [], title, phoneTitle, ...rest } = navigation
  const addressOf = paths[name] as (id?: string) => Address
  const actionsAt = (to: Address, all: readonly Action[]): readonly PlaceAction[] =>
    all.map(({ search = {}, path = to.to, ...action }) => ({ ...action, to: { ...to, to: path, search } }))
  const to = addressOf(sections[0]?.id)
  return {
    ...rest,
    name,
    title: words.places[title],
    phoneTitle: phoneTitle && words.places[phoneTitle],
    to,
    actions: actionsAt(to, actions),
    sections: sections.map((one) => ({
      ...one,
      title: words.settings.sections[one.id],
      to: addressOf(one.id),
      actions: actionsAt(addressOf(one.id), one.actions ?? []),
    })),
  }
}
