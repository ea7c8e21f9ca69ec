/**
 * What every `place.ts` is made of: a page is a route of TanStack Router, and its `staticData` says how people get there.
 * Imported by tests outside of a browser, so nothing here may load a component.
 */
import { createRootRoute, createRoute, retainSearchParams } from '@tanstack/react-router'
import type { LucideIcon } from 'lucide-react'
import type { words } from '../words/words.ts'
import { searchOf, text } from './search.ts'
import type { Permission } from './session.ts'

/** Groups of the sidebar, from top to bottom. */
export const GROUPS = ['first', 'playground', 'money', 'run'] as const

type Title = keyof typeof words.places

export interface Navigation {
  readonly title: Title
  readonly icon: LucideIcon
  readonly group: (typeof GROUPS)[number]
  /** Where it is in its group. */
  readonly position: number
  /** The second key after `g`. */
  readonly key: string
  /** Undefined: every signed-in person. */
  readonly permission?: Permission
  /** Its name in the bar of a phone. Without one, it is behind "More". */
  readonly phoneTitle?: Title
  /** Pages behind its tabs, which the palette finds by their own titles. The first one opens. */
  readonly sections?: readonly Section[]
  readonly actions?: readonly Action[]
}

export interface Section {
  /** The last part of its path. */
  readonly id: keyof typeof words.settings.sections
  readonly permission?: Permission
  readonly actions?: readonly Action[]
}

/** Something to do on a page, which the palette finds by its own title. */
export interface Action {
  readonly id: keyof typeof words.palette.actions
  /** Where it begins, if not on the page itself. */
  readonly path?: string
  /** The parameters of the address that begin it. Undefined: the page itself. */
  readonly search?: Readonly<Record<string, string | true>>
  readonly permission?: Permission
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Undefined: other pages lead to it, the sidebar does not. */
    readonly navigation?: Navigation
    /** What divides an id into the parts of a path that has several. */
    readonly separator?: string
  }
}

/** Undefined: all projects. */
export interface Scope {
  project?: string | undefined
}

export const rootRoute = createRootRoute({ validateSearch: searchOf({ project: text() }) })

/** Pages inside of the frame. Their links keep the project that is chosen. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  search: { middlewares: [retainSearchParams<Scope>(['project'])] },
})

/** The search parameters of a page, as its readers give them. */
export type SearchOf<Route extends { readonly types: { readonly fullSearchSchema: unknown } }> =
  Route['types']['fullSearchSchema']
