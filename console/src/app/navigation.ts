/** The places of the console, in the order of the sidebar. What a role may never read is not in it. */
import {
  Activity,
  Boxes,
  ChartColumn,
  ChartScatter,
  CircleHelp,
  Image,
  KeyRound,
  LayoutDashboard,
  ListChecks,
  Network,
  ScrollText,
  Settings,
  Wallet,
  type LucideIcon,
} from 'lucide-react'
import { words } from '../words/words.ts'
import { paths } from './paths.ts'
import type { Permission } from './session.ts'

export interface Place {
  readonly id:
    | 'overview'
    | 'requests'
    | 'batches'
    | 'models'
    | 'embeddings'
    | 'images'
    | 'usage'
    | 'budgets'
    | 'unknowns'
    | 'deployments'
    | 'keys'
    | 'audit'
    | 'settings'
  readonly to: string
  readonly icon: LucideIcon
  /** The second key after `g`. */
  readonly key: string
  /** Undefined: everybody who is signed in. */
  readonly permission?: Permission
  readonly title: string
}

export interface PlaceGroup {
  readonly title?: string
  readonly places: readonly Place[]
}

export const PLACE_GROUPS: readonly PlaceGroup[] = [
  {
    places: [
      {
        id: 'overview',
        to: paths.overview(),
        icon: LayoutDashboard,
        key: 'o',
        permission: 'overview.read',
        title: words.overview.title,
      },
      {
        id: 'requests',
        to: paths.requests(),
        icon: Activity,
        key: 'r',
        permission: 'requests.read',
        title: words.requests.title,
      },
      {
        id: 'batches',
        to: paths.batches(),
        icon: ListChecks,
        key: 't',
        permission: 'batches.read',
        title: words.batches.title,
      },
      {
        id: 'models',
        to: paths.models(),
        icon: Boxes,
        key: 'm',
        permission: 'models.read',
        title: words.models.title,
      },
    ],
  },
  {
    title: words.shell.groups.playground,
    places: [
      {
        id: 'embeddings',
        to: paths.embeddings(),
        icon: ChartScatter,
        key: 'e',
        permission: 'playground.run',
        title: words.embeddings.title,
      },
      {
        id: 'images',
        to: paths.images(),
        icon: Image,
        key: 'i',
        permission: 'playground.run',
        title: words.images.title,
      },
    ],
  },
  {
    title: words.shell.groups.money,
    places: [
      {
        id: 'usage',
        to: paths.usage(),
        icon: ChartColumn,
        key: 'u',
        permission: 'usage.read',
        title: words.usage.title,
      },
      {
        id: 'budgets',
        to: paths.budgets(),
        icon: Wallet,
        key: 'b',
        permission: 'budgets.read',
        title: words.budgets.title,
      },
      {
        id: 'unknowns',
        to: paths.unknowns(),
        icon: CircleHelp,
        key: 'n',
        permission: 'unknowns.read',
        title: words.unknowns.title,
      },
    ],
  },
  {
    title: words.shell.groups.run,
    places: [
      {
        id: 'deployments',
        to: paths.deployments(),
        icon: Network,
        key: 'd',
        permission: 'deployments.read',
        title: words.deployments.title,
      },
      {
        id: 'keys',
        to: paths.keys(),
        icon: KeyRound,
        key: 'k',
        permission: 'keys.read',
        title: words.keys.title,
      },
      {
        id: 'audit',
        to: paths.audit(),
        icon: ScrollText,
        key: 'a',
        permission: 'audit.read',
        title: words.audit.title,
      },
      { id: 'settings', to: paths.settings(), icon: Settings, key: 's', title: words.settings.title },
    ],
  },
]

export const PLACES: readonly Place[] = PLACE_GROUPS.flatMap(({ places }) => places)

/** The five of a phone; the last one is "More". */
export const PHONE_PLACES: readonly Place['id'][] = ['overview', 'requests', 'usage', 'deployments']
