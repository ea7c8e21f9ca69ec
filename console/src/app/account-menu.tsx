/** Who is signed in, how this browser shows the console, and the way out. */
import {
  Braces,
  ChevronsUpDown,
  Keyboard,
  Languages,
  LogOut,
  MonitorSmartphone,
  Rocket,
  SunMoon,
} from 'lucide-react'
import { words } from '../words/words.ts'
import { Menu, MenuChoice, MenuHead, MenuItem, MenuLine } from '../ui/menu.tsx'
import { initials } from './format.ts'
import { useLetters } from './keys.ts'
import { chooseLanguage, language, LANGUAGES, type Language } from './language.ts'
import { paths } from './paths.ts'
import { useSession, useSignOut } from './session.ts'
import { chooseTheme, useThemeChoice, type ThemeChoice } from './theme.ts'

const THEMES: readonly ThemeChoice[] = ['light', 'dark', 'system']

export function AccountMenu() {
  const { member, role } = useSession()
  const name = member?.name ?? words.shell.token
  return (
    <Menu
      side="top"
      className="w-58"
      trigger={
        <button
          type="button"
          className="flex h-11 w-full items-center gap-2 rounded-control px-2 text-left hover:bg-hover"
        >
          <span
            aria-hidden
            className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-tint text-11 font-semibold text-accent"
          >
            {initials(name)}
          </span>
          <span className="min-w-0 flex-1">
            <span className="block truncate text-12 leading-[15px] font-semibold">{name}</span>
            <span className="block truncate text-11 leading-[15px] text-ink-3">
              {words.shell.roles[role]}
            </span>
          </span>
          <ChevronsUpDown size={14} aria-hidden className="text-ink-3" />
        </button>
      }
    >
      <AccountItems />
    </Menu>
  )
}

/** Also in the phone's "More". */
export function AccountItems() {
  const { member } = useSession()
  const theme = useThemeChoice()
  const [letters, setLetters] = useLetters()
  const signOut = useSignOut()
  return (
    <>
      <MenuHead>{words.shell.theme}</MenuHead>
      {THEMES.map((one) => (
        <MenuChoice
          key={one}
          chosen={one === theme}
          icon={<SunMoon size={15} aria-hidden className="text-ink-3" />}
          onSelect={() => chooseTheme(one)}
        >
          {words.shell.themes[one]}
        </MenuChoice>
      ))}
      <MenuHead>{words.shell.language}</MenuHead>
      {(Object.keys(LANGUAGES) as Language[]).map((one) => (
        <MenuChoice
          key={one}
          chosen={one === language}
          icon={<Languages size={15} aria-hidden className="text-ink-3" />}
          onSelect={() => chooseLanguage(one)}
        >
          {LANGUAGES[one]}
        </MenuChoice>
      ))}
      <MenuLine />
      <MenuChoice
        chosen={letters}
        icon={<Keyboard size={15} aria-hidden className="text-ink-3" />}
        onSelect={() => setLetters(!letters)}
      >
        {words.shell.letters}
      </MenuChoice>
      <MenuItem icon={<Rocket size={15} aria-hidden className="text-ink-3" />} to={paths.welcome()}>
        {words.shell.welcome}
      </MenuItem>
      <MenuItem icon={<Braces size={15} aria-hidden className="text-ink-3" />} to={paths.apiReference()}>
        {words.shell.apiReference}
      </MenuItem>
      {member !== null && (
        <>
          <MenuLine />
          <MenuItem
            icon={<LogOut size={15} aria-hidden className="text-ink-3" />}
            onSelect={() => signOut('here')}
          >
            {words.shell.signOut}
          </MenuItem>
          <MenuItem
            icon={<MonitorSmartphone size={15} aria-hidden className="text-ink-3" />}
            onSelect={() => signOut('everywhere')}
          >
            {words.shell.signOutEverywhere}
          </MenuItem>
        </>
      )}
    </>
  )
}
