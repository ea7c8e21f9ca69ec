/** `⌘K`: go somewhere, do something, or paste any id. Loaded when it is first opened. */
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CornerDownLeft, Keyboard, KeyRound, Languages, Search, SunMoon, type LucideIcon } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { words } from '../words/words.ts'
import { classes } from '../ui/classes.ts'
import { Kbd } from '../ui/kbd.tsx'
import { layer } from '../ui/layers.ts'
import type { Address } from '../ui/link.tsx'
import { chooseLanguage, language } from './language.ts'
import { PLACES } from './navigation.ts'
import { HIT_ICONS } from './palette-icons.ts'
import { paths } from './paths.ts'
import { pathOfHit, resolveQuery, type Hit } from './resolve.ts'
import { useWayTo } from './scope.tsx'
import { useMay, type May, type Permission } from './session.ts'
import { chooseTheme, useTheme } from './theme.ts'

interface PaletteProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly openList: () => void
}

interface Choice {
  readonly id: string
  readonly group: string
  readonly icon: LucideIcon
  readonly title: string
  readonly note?: string
  readonly run: () => void
}

/** One types on while the node looks. */
const PAUSE_MS = 120

export function Palette({ open, onClose, openList }: PaletteProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal container={layer('dialogs')}>
        <Dialog.Backdrop className="appearing fixed inset-0 bg-veil" />
        <Dialog.Popup
          aria-label={words.shell.palette.title}
          className="appearing fixed top-30 left-1/2 flex max-h-[calc(100dvh-160px)] w-150 max-w-[calc(100vw-24px)] -translate-x-1/2 flex-col overflow-hidden rounded-dialog border border-line bg-raised text-ink shadow-dialog outline-none phone:top-3 phone:max-h-[calc(100dvh-24px)]"
        >
          <Dialog.Title className="sr-only">{words.shell.palette.title}</Dialog.Title>
          <Choices onClose={onClose} openList={openList} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Choices({ onClose, openList }: Omit<PaletteProps, 'open'>) {
  const [typed, setTyped] = useState('')
  const asked = useSettled(typed.trim())
  const hits = useQuery(resolveQuery(asked))
  const own = useOwnChoices(openList)
  const go = useLeave()
  // Hits for an earlier text would be opened by an early Enter.
  const isAnswered = asked === typed.trim()
  const found = isAnswered ? (hits.data ?? []) : []
  const choices = [...found.map((hit) => choiceOf(hit, go)), ...matching(own, typed)]
  const [at, setAt] = useState(0)
  const listId = useId()
  const list = useRef<HTMLDivElement>(null)
  // `scrollIntoView` returns a promise in new browsers, and React would call it as a cleanup.
  useEffect(() => {
    list.current?.querySelectorAll('[role=option]')[at]?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const run = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    onClose()
    choice.run()
  }
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && choices.length > 0) {
      event.preventDefault()
      setAt((at + step + choices.length) % choices.length)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      run(choices[at])
    }
  }
  return (
    <>
      <div className="flex h-13 shrink-0 items-center gap-3 border-b border-line px-5">
        <Search size={16} aria-hidden className="text-ink-3" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={choices[at] === undefined ? undefined : `${listId}-${at}`}
          aria-label={words.shell.palette.title}
          placeholder={words.shell.palette.placeholder}
          value={typed}
          className="h-full min-w-0 flex-1 bg-transparent text-15 outline-none"
          onChange={(event) => {
            setTyped(event.target.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <Kbd>esc</Kbd>
      </div>
      <div
        ref={list}
        id={listId}
        role="listbox"
        aria-label={words.shell.palette.title}
        className="min-h-0 flex-1 overflow-y-auto p-1.5"
      >
        {choices.length === 0 && (
          <p className="px-3.5 py-4 text-ink-3">
            {hits.isFetching || !isAnswered ? words.ui.loading : words.ui.nothingFound}
          </p>
        )}
        {choices.map((choice, index) => (
          <div key={choice.id} role="presentation">
            {choice.group !== choices[index - 1]?.group && (
              <p className="px-3.5 pt-2.5 pb-1.5 text-12 text-ink-3">{choice.group}</p>
            )}
            <ChoiceLine
              id={`${listId}-${index}`}
              choice={choice}
              isHere={index === at}
              onPoint={() => setAt(index)}
              onRun={() => run(choice)}
            />
          </div>
        ))}
      </div>
      <footer className="flex h-9.5 shrink-0 items-center gap-2 border-t border-line px-5 text-12 text-ink-3 phone:hidden">
        <span className="flex-1">{words.shell.palette.hint}</span>
        <Kbd>↑</Kbd>
        <Kbd>↓</Kbd>
        {words.shell.palette.walk}
      </footer>
    </>
  )
}

interface ChoiceLineProps {
  readonly id: string
  readonly choice: Choice
  readonly isHere: boolean
  readonly onPoint: () => void
  readonly onRun: () => void
}

function ChoiceLine({ id, choice, isHere, onPoint, onRun }: ChoiceLineProps) {
  const Icon = choice.icon
  return (
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isHere}
      className={classes(
        'flex h-[34px] cursor-default items-center gap-2.5 rounded-control px-3.5',
        isHere && 'bg-selected',
      )}
      onPointerMove={onPoint}
      onClick={onRun}
      onKeyDown={(event) => event.key === 'Enter' && onRun()}
    >
      <Icon size={15} strokeWidth={1.75} aria-hidden className="text-ink-3" />
      <span className={classes('truncate', isHere && 'font-semibold')}>{choice.title}</span>
      {choice.note !== undefined && (
        <span className="min-w-0 flex-1 truncate text-12 text-ink-3">{choice.note}</span>
      )}
      {isHere && (
        <span className="ml-auto">
          <Kbd>
            <CornerDownLeft size={11} aria-hidden />
          </Kbd>
        </span>
      )}
    </div>
  )
}

function choiceOf(hit: Hit, go: (to: Address) => void): Choice {
  return {
    id: `${hit.type} ${hit.id}`,
    group: words.shell.palette.types[hit.type],
    icon: HIT_ICONS[hit.type],
    title: hit.title,
    note: hit.note,
    run: () => go(pathOfHit(hit)),
  }
}

function useLeave(): (to: Address) => void {
  const navigate = useNavigate()
  const wayTo = useWayTo()
  return (to) => void navigate(wayTo(to))
}

/** Every word that was typed has to be in the title. */
function matching(choices: readonly Choice[], typed: string): readonly Choice[] {
  const parts = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return choices.filter(({ title }) => parts.every((part) => title.toLowerCase().includes(part)))
}

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

/** Pages and actions of the console itself. */
function useOwnChoices(openList: () => void): readonly Choice[] {
  const may = useMay()
  const go = useLeave()
  const theme = useTheme()
  return [...actions(may, go, theme, openList), ...pages(may, go)]
}

function pages(may: May, go: (to: Address) => void): readonly Choice[] {
  const page = (icon: LucideIcon, title: string, to: Address, permission?: Permission): readonly Choice[] =>
    permission === undefined || may(permission)
      ? [{ id: `page ${title}`, group: words.shell.palette.go, icon, title, run: () => go(to) }]
      : []
  return PLACES.flatMap(({ icon, title, to, permission, sections }) => [
    ...page(icon, title, to, permission),
    ...sections.flatMap((one) => page(icon, `${title}: ${one.title}`, one.to, one.permission)),
  ])
}

function actions(
  may: May,
  go: (to: Address) => void,
  theme: 'light' | 'dark',
  openList: () => void,
): readonly Choice[] {
  const { palette, themes } = words.shell
  const other = theme === 'dark' ? 'light' : 'dark'
  const action = (id: string, icon: LucideIcon, title: string, run: () => void): Choice => ({
    id,
    icon,
    title,
    run,
    group: palette.do,
  })
  return [
    ...(may('keys.create')
      ? [action('new key', KeyRound, palette.newKey, () => go(paths.keys({ new: true })))]
      : []),
    action('theme', SunMoon, palette.switchTo(themes[other].toLowerCase()), () => chooseTheme(other)),
    action('language', Languages, palette.switchLanguage, () =>
      chooseLanguage(language === 'en' ? 'zh' : 'en'),
    ),
    action('keys', Keyboard, palette.showKeys, openList),
  ]
}
