/** What the palette offers beside the hits of the node: pages, actions, documentation, and actions on what was found. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  ArrowRight,
  BookOpen,
  Braces,
  Clock,
  Download,
  FlaskConical,
  Keyboard,
  Languages,
  Layers,
  LogOut,
  PauseCircle,
  Rocket,
  SunMoon,
  type LucideIcon,
} from 'lucide-react'
import { apiUrl } from '../api/client.ts'
import { switchZone, useZone } from '../time/zone.ts'
import type { Address } from '../ui/link.tsx'
import { words } from '../words/words.ts'
import { DOCS_URL } from './docs-url.ts'
import { useLetters } from './keys.ts'
import { chooseLanguage, language } from './language.ts'
import { PLACES } from './navigation.ts'
import { HIT_ICONS } from './palette-icons.ts'
import { POINTS, type Findable } from './palette-order.ts'
import { paths } from './paths.ts'
import { pathOfHit, type Hit } from './resolve.ts'
import { useScope, useWayTo } from './scope.tsx'
import { useMay, useSession, useSignOut, type May, type Permission } from './session.ts'
import { chooseTheme, useThemeChoice, type ThemeChoice } from './theme.ts'

export interface Choice extends Findable {
  readonly icon: LucideIcon
  readonly note?: string
  readonly run: () => void
}

export function useGo(): (to: Address) => void {
  const navigate = useNavigate()
  const wayTo = useWayTo()
  return (to) => void navigate(wayTo(to))
}

/** Actions first: they are few, and a page is one letter away. */
export function useOwnChoices(openList: () => void): readonly Choice[] {
  const may = useMay()
  const go = useGo()
  // A token has no password, and no session to leave.
  const isMember = useSession().member !== null
  return [
    ...pageActions(may, go).filter(({ id }) => isMember || id !== 'do changePassword'),
    ...useConsoleActions(openList, isMember),
    ...pages(may, go),
  ]
}

function isAllowed(may: May, permission: Permission | undefined): boolean {
  return permission === undefined || may(permission)
}

function pageActions(may: May, go: (to: Address) => void): readonly Choice[] {
  const { actions, groups } = words.palette
  return PLACES.flatMap((place) => [place, ...place.sections].map((one) => ({ ...one, icon: place.icon })))
    .filter(({ permission }) => isAllowed(may, permission))
    .flatMap(({ actions: offered, icon }) => offered.map((action) => ({ ...action, icon })))
    .filter(({ permission }) => isAllowed(may, permission))
    .map(({ id, icon, to }) => ({
      id: `do ${id}`,
      group: groups.actions,
      icon,
      ...actions[id],
      run: () => go(to),
    }))
}

const THEMES: readonly ThemeChoice[] = ['light', 'dark', 'system']

function useConsoleActions(openList: () => void, isMember: boolean): readonly Choice[] {
  const may = useMay()
  const go = useGo()
  const theme = useThemeChoice()
  const zone = useZone()
  const scope = useScope()
  const [letters, setLetters] = useLetters()
  const signOut = useSignOut()
  const say = words.palette.own
  const action = (
    id: string,
    icon: LucideIcon,
    [title, also]: readonly [title: string, also: string],
    run: () => void,
  ): Choice => ({ id: `do ${id}`, group: words.palette.groups.actions, icon, title, also, run })
  return [
    ...THEMES.filter((one) => one !== theme).map((one) =>
      action(`theme ${one}`, SunMoon, [say.theme(words.shell.themes[one].toLowerCase()), say.themeAlso], () =>
        chooseTheme(one),
      ),
    ),
    action('language', Languages, [say.language, say.languageAlso], () =>
      chooseLanguage(language === 'en' ? 'zh' : 'en'),
    ),
    action('zone', Clock, [say.zone[zone === 'utc' ? 'local' : 'utc'], say.zoneAlso], switchZone),
    ...(scope === undefined
      ? []
      : [
          action('all projects', Layers, [say.allProjects, say.allProjectsAlso], () =>
            go({ to: '.', params: {}, search: { project: undefined } }),
          ),
        ]),
    ...(may('audit.export')
      ? [action('export audit', Download, [say.exportAudit, say.exportAuditAlso], downloadAudit)]
      : []),
    action('api reference', Braces, [words.shell.apiReference, say.apiReferenceAlso], () =>
      go(paths.apiReference()),
    ),
    action('first steps', Rocket, [say.firstSteps, say.firstStepsAlso], () => go(paths.welcome())),
    action('shortcuts', Keyboard, [say.shortcuts, say.shortcutsAlso], openList),
    action('letters', Keyboard, [say.letters[letters ? 'on' : 'off'], say.lettersAlso], () =>
      setLetters(!letters),
    ),
    ...(isMember
      ? [
          action('sign out', LogOut, [say.signOut, say.signOutAlso], () => signOut('here')),
          action('sign out everywhere', LogOut, [say.signOutEverywhere, say.signOutEverywhereAlso], () =>
            signOut('everywhere'),
          ),
        ]
      : []),
  ]
}

function downloadAudit(): void {
  const link = document.createElement('a')
  link.href = apiUrl('/api/v1/audit/export')
  link.download = ''
  link.click()
}

function pages(may: May, go: (to: Address) => void): readonly Choice[] {
  const { groups, pages: alsoOf, sections: alsoOfSection } = words.palette
  const page = (icon: LucideIcon, title: string, also: string | undefined, to: Address): Choice => ({
    id: `page ${to.to} ${title}`,
    group: groups.pages,
    icon,
    title,
    ...(also !== undefined && { also }),
    run: () => go(to),
  })
  return PLACES.filter(({ permission }) => isAllowed(may, permission)).flatMap((place) => [
    page(place.icon, place.title, alsoOf[place.name], place.to),
    ...place.sections
      .filter(({ permission }) => isAllowed(may, permission))
      .map((one) => page(place.icon, `${place.title}: ${one.title}`, alsoOfSection[one.id], one.to)),
  ])
}

/** Empty until they are loaded, which begins with the first letter. */
export function useDocs(isWanted: boolean): readonly Choice[] {
  const { install } = useSession()
  const { data } = useQuery({
    queryKey: ['docs'],
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await import('virtual:docs')).DOCS,
  })
  const group = words.palette.groups.docs
  const open = (address: string) => () => void window.open(address, '_blank', 'noreferrer')
  return (data ?? []).flatMap(({ path, title, headings }) => [
    { id: `doc ${path}`, group, icon: BookOpen, title, run: open(`${DOCS_URL}/${path}.md`) },
    ...headings.map(([anchor, text]) => ({
      id: `doc ${path}#${anchor}`,
      group,
      icon: BookOpen,
      title: text,
      note: title,
      run: open(
        path === 'errors' && /^[a-z_]+$/.test(text)
          ? `${install.gateway_url}/docs/errors/${text}`
          : `${DOCS_URL}/${path}.md#${anchor}`,
      ),
    })),
  ])
}

export function choiceOf(hit: Hit, go: (to: Address) => void): Choice {
  return {
    id: `${hit.type} ${hit.id}`,
    group: words.palette.types[hit.type],
    icon: HIT_ICONS[hit.type],
    title: hit.title,
    note: hit.note,
    leastPoints: POINTS.titleWord,
    run: () => go(pathOfHit(hit)),
  }
}

type Follow = readonly [title: string, to: Address, icon?: LucideIcon, permission?: Permission]

/** What one does with the best hit, one line each. */
export function followUps(hit: Hit, may: May, go: (to: Address) => void): readonly Choice[] {
  return followsOf(hit)
    .filter(([, , , permission]) => isAllowed(may, permission))
    .map(([title, to, icon = ArrowRight]) => ({
      id: `follow ${title}`,
      group: words.palette.groups.actions,
      icon,
      title,
      leastPoints: POINTS.titleInside,
      run: () => go(to),
    }))
}

function followsOf({ type, id, title }: Hit): readonly Follow[] {
  const say = words.palette
  const about: Follow = [say.auditAbout(title), paths.audit({ target: id }), HIT_ICONS.audit, 'audit.read']
  switch (type) {
    case 'model':
      return [
        [say.tryModel(title), paths.embeddings({ model: id }), FlaskConical, 'playground.run'],
        [say.requestsOf(title), paths.requests({ model: id }), HIT_ICONS.request, 'requests.read'],
        [say.routingOf(title), paths.model(id, { tab: 'routing' }), HIT_ICONS.deployment],
      ]
    case 'deployment':
      return [
        [say.requestsOf(title), paths.requests({ deployment: id }), HIT_ICONS.request, 'requests.read'],
        [say.test(title), paths.deployment(id, { do: 'test' }), FlaskConical, 'deployments.test'],
        [say.drain(title), paths.deployment(id, { do: 'drain' }), PauseCircle, 'deployments.drain'],
        about,
      ]
    case 'key':
      return [
        [say.requestsOf(title), paths.requests({ key: id }), HIT_ICONS.request, 'requests.read'],
        [say.usageOf(title), paths.key(id, { tab: 'usage' }), ArrowRight, 'usage.read'],
        about,
      ]
    case 'project':
      return [
        [say.switchProject(title), paths.overview({ project: id }), Layers],
        [say.keysOf(title), paths.keys({ project: id }), HIT_ICONS.key, 'keys.read'],
        about,
      ]
    default:
      return []
  }
}
