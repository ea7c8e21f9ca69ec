/** Navigation of a narrow screen: four places and "More". */
import { Ellipsis } from 'lucide-react'
import { words } from '../words/words.ts'
import { classes } from '../ui/classes.ts'
import { Link } from '../ui/link.tsx'
import { Menu, MenuItem, MenuLine } from '../ui/menu.tsx'
import { AccountItems } from './account-menu.tsx'
import { PLACES } from './navigation.ts'
import { useWayTo } from './scope.tsx'
import { useMay } from './session.ts'
import { ScopeSwitch, useIsHere } from './sidebar.tsx'

const TAB = 'flex h-full flex-1 flex-col items-center justify-center gap-1 text-11'

export function PhoneBar({ openPalette }: { readonly openPalette: () => void }) {
  const may = useMay()
  const isHere = useIsHere()
  const wayTo = useWayTo()
  const allowed = PLACES.filter(({ permission }) => permission === undefined || may(permission))
  const tabs = allowed.filter(({ phoneTitle }) => phoneTitle !== undefined)
  const rest = allowed.filter(({ phoneTitle }) => phoneTitle === undefined)
  return (
    <nav
      aria-label={words.shell.navigation}
      className="hidden h-16 shrink-0 border-t border-line bg-canvas phone:flex"
    >
      {tabs.map((place) => {
        const Icon = place.icon
        return (
          <Link
            key={place.name}
            to={wayTo(place.to)}
            aria-current={isHere(place) ? 'page' : undefined}
            className={classes(TAB, isHere(place) ? 'font-semibold text-accent' : 'text-ink-2')}
          >
            <Icon size={20} strokeWidth={1.75} aria-hidden />
            {place.phoneTitle}
          </Link>
        )
      })}
      <Menu
        side="top"
        align="end"
        className="w-64"
        trigger={
          <button
            type="button"
            className={classes(TAB, rest.some(isHere) ? 'font-semibold text-accent' : 'text-ink-2')}
          >
            <Ellipsis size={20} strokeWidth={1.75} aria-hidden />
            {words.shell.more}
          </button>
        }
      >
        <div className="p-1">
          <ScopeSwitch />
        </div>
        {rest.map((place) => {
          const Icon = place.icon
          return (
            <MenuItem
              key={place.name}
              to={wayTo(place.to)}
              icon={<Icon size={15} aria-hidden className="text-ink-3" />}
            >
              {place.title}
            </MenuItem>
          )
        })}
        <MenuItem onSelect={openPalette}>{words.shell.goTo}</MenuItem>
        <MenuLine />
        <AccountItems />
      </Menu>
    </nav>
  )
}
