/** Navigation, scope, and who is signed in. */
import { useQuery } from '@tanstack/react-query'
import { useMatchRoute } from '@tanstack/react-router'
import { ChevronsUpDown, Layers, Search } from 'lucide-react'
import { shellQueries } from '../api/queries/shell.ts'
import { words } from '../words/words.ts'
import { Brand } from '../ui/brand.tsx'
import { classes } from '../ui/classes.ts'
import { Kbd, withCommand } from '../ui/kbd.tsx'
import { Link } from '../ui/link.tsx'
import { Menu, MenuChoice } from '../ui/menu.tsx'
import { StateMark } from '../ui/state-mark.tsx'
import { Tag } from '../ui/tag.tsx'
import { AccountMenu } from './account-menu.tsx'
import { PLACE_GROUPS, type Place } from './navigation.ts'
import { useChangeSearch } from './change-search.ts'
import type { Scope } from './place.ts'
import { useScope, useWayTo } from './scope.tsx'
import { useMay, useSession } from './session.ts'

interface SidebarProps {
  readonly openPalette: () => void
  readonly openList: () => void
}

export function Sidebar({ openPalette, openList }: SidebarProps) {
  const may = useMay()
  const { install } = useSession()
  return (
    <div className="flex w-52 shrink-0 flex-col border-r border-line bg-canvas phone:hidden">
      <div className="flex h-12 shrink-0 items-center gap-2 px-3.5 pt-0.5">
        <Brand size={20} />
        <span className="flex-1 text-[14px] font-semibold">Torana</span>
        {install.name !== null && <Tag>{install.name}</Tag>}
      </div>
      <div className="px-2 pt-1">
        <ScopeSwitch />
        <button
          type="button"
          className="mt-1.5 flex h-8 w-full items-center gap-2 rounded-control pr-2 pl-2 text-left text-ink-3 hover:text-ink"
          onClick={openPalette}
        >
          <Search size={15} aria-hidden />
          <span className="flex-1">{words.shell.goTo}</span>
          <Kbd>{withCommand('K')}</Kbd>
        </button>
      </div>
      <nav aria-label={words.shell.navigation} className="min-h-0 flex-1 overflow-y-auto px-2 pt-[5px] pb-3">
        {PLACE_GROUPS.map(({ title, places }) => {
          const visible = places.filter(({ permission }) => permission === undefined || may(permission))
          if (visible.length === 0) return null
          return (
            <div key={title ?? ''} className="not-first:mt-3">
              {title !== undefined && <p className="px-2 pb-1 text-11 text-ink-3">{title}</p>}
              <ul>
                {visible.map((place) => (
                  <li key={place.name}>
                    <PlaceLink place={place} />
                  </li>
                ))}
              </ul>
            </div>
          )
        })}
      </nav>
      <div className="flex h-9 items-center gap-2 pr-4 pl-4">
        <NodesLine />
        <button
          type="button"
          aria-label={words.shell.keyboard}
          className="flex rounded-chip text-ink-3 hover:text-ink"
          onClick={openList}
        >
          <Kbd>?</Kbd>
        </button>
      </div>
      <div className="mx-2 border-t border-line pt-[3px] pb-[5px]">
        <AccountMenu />
      </div>
    </div>
  )
}

/** `/requests/…` belongs to Requests, and every section of the settings to the settings. */
export function useIsHere(): (place: Place) => boolean {
  const matches = useMatchRoute()
  return ({ to: { to } }) => matches({ to, fuzzy: to !== '/' }) !== false
}

function PlaceLink({ place }: { readonly place: Place }) {
  const isHere = useIsHere()(place)
  const wayTo = useWayTo()
  const Icon = place.icon
  return (
    <Link
      to={wayTo(place.to)}
      aria-current={isHere ? 'page' : undefined}
      className={classes(
        'flex h-7 items-center gap-2 rounded-control px-2',
        isHere ? 'bg-selected font-semibold text-ink' : 'text-ink-2 hover:bg-hover hover:text-ink',
      )}
    >
      <Icon size={16} strokeWidth={1.75} aria-hidden className={isHere ? 'text-accent' : 'text-ink-3'} />
      <span className="flex-1 truncate">{place.title}</span>
      {place.name === 'unknowns' && <OpenUnknowns />}
      {place.name === 'alerts' && <OpenIncidents />}
    </Link>
  )
}

function OpenUnknowns() {
  const unknowns = useQuery(shellQueries.openUnknowns())
  const open = unknowns.data?.data.length ?? 0
  return open === 0 ? null : <Tag tone="odd">{unknowns.data?.has_more === true ? `${open}+` : open}</Tag>
}

function OpenIncidents() {
  const open = useQuery(shellQueries.alerts(useScope())).data?.open ?? 0
  return open === 0 ? null : <Tag tone="bad">{open}</Tag>
}

function NodesLine() {
  const may = useMay()
  const { install } = useSession()
  const nodes = useQuery({ ...shellQueries.nodes(), enabled: may('nodes.read') })
  const living = nodes.data?.data.filter(({ state }) => state === 'alive').length
  const isSilent = nodes.data?.data.some(({ state }) => state === 'silent') === true
  return (
    <span className="flex flex-1 items-center gap-2 text-12 text-ink-3">
      <StateMark mark={nodes.isError ? 'bad' : isSilent ? 'warn' : 'good'} word="" size={10} />
      {living === undefined ? install.version : words.shell.nodes(living, install.version)}
    </span>
  )
}

/** All projects, or one. It writes `?project=`, and every page obeys. */
export function ScopeSwitch() {
  const { projects: own } = useSession()
  const change = useChangeSearch<Scope>()
  const project = useScope()
  const listed = useQuery(shellQueries.projects())
  const names = listed.data?.data.map(({ name }) => name) ?? own ?? []
  const box =
    'flex h-8 w-full items-center gap-2 rounded-control border border-line bg-surface pr-2 pl-2 text-left font-medium phone:h-10'
  const [only] = own ?? []
  // With one project there is nothing to choose, unless a link brought another one.
  if (own?.length === 1 && (project === undefined || project === only))
    return (
      <p className={box}>
        <Layers size={15} aria-hidden className="text-ink-3" />
        {only}
      </p>
    )
  return (
    <Menu
      trigger={
        <button
          type="button"
          className={classes(box, 'hover:bg-hover')}
          aria-label={`${words.shell.project}: ${project ?? words.shell.allProjects}`}
        >
          <Layers size={15} aria-hidden className="text-ink-3" />
          <span className="min-w-0 flex-1 truncate">{project ?? words.shell.allProjects}</span>
          <ChevronsUpDown size={14} aria-hidden className="text-ink-3" />
        </button>
      }
    >
      <MenuChoice chosen={project === undefined} onSelect={() => change({ project: undefined })}>
        {words.shell.allProjects}
      </MenuChoice>
      {names.map((name) => (
        <MenuChoice key={name} chosen={name === project} onSelect={() => change({ project: name })}>
          {name}
        </MenuChoice>
      ))}
    </Menu>
  )
}
