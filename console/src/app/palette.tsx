/** `⌘K`: go somewhere, do something, or paste any id. Loaded when it is first opened. */
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { CornerDownLeft, Search } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { words } from '../words/words.ts'
import { classes } from '../ui/classes.ts'
import { Kbd } from '../ui/kbd.tsx'
import { layer } from '../ui/layers.ts'
import { choiceOf, followUps, useDocs, useGo, useOwnChoices, type Choice } from './palette-choices.ts'
import { ordered, readUses, used } from './palette-order.ts'
import { resolveQuery } from './resolve.ts'
import { useMay } from './session.ts'
import { remember, remembered } from './stored.ts'

interface PaletteProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly openList: () => void
}

/** Pages of the documentation that are shown: the rest fits less. */
const MAX_DOCS = 6

/** One types on while the node looks. */
const PAUSE_MS = 120

export function Palette({ open, onClose, openList }: PaletteProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal container={layer('dialogs')}>
        <Dialog.Backdrop className="appearing fixed inset-0 bg-veil" />
        <Dialog.Popup
          aria-label={words.palette.title}
          className="appearing fixed top-30 left-1/2 flex max-h-[calc(100dvh-160px)] w-150 max-w-[calc(100vw-24px)] -translate-x-1/2 flex-col overflow-hidden rounded-dialog border border-line bg-raised text-ink shadow-dialog outline-none phone:top-3 phone:max-h-[calc(100dvh-24px)]"
        >
          <Dialog.Title className="sr-only">{words.palette.title}</Dialog.Title>
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
  const docs = useDocs(typed.trim() !== '')
  const may = useMay()
  const go = useGo()
  const [uses, setUses] = useState(() => readUses(remembered('palette-use')))
  // Hits for an earlier text would be opened by an early Enter.
  const isAnswered = asked === typed.trim()
  const found = isAnswered ? (hits.data ?? []) : []
  const choices =
    typed.trim() === ''
      ? withRecent(own, uses)
      : [
          ...ordered(
            [
              ...found.map((hit) => choiceOf(hit, go)),
              ...(found[0] === undefined ? [] : followUps(found[0], may, go)),
              ...own,
            ],
            typed,
            uses,
          ),
          ...ordered(docs, typed, uses).slice(0, MAX_DOCS),
        ]
  const [at, setAt] = useState(0)
  const listId = useId()
  const list = useRef<HTMLDivElement>(null)
  // `scrollIntoView` returns a promise in new browsers, and React would call it as a cleanup.
  useEffect(() => {
    list.current?.querySelectorAll('[role=option]')[at]?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const run = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    const next = used(uses, choice.id)
    setUses(next)
    remember('palette-use', JSON.stringify(next))
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
          aria-label={words.palette.title}
          placeholder={words.palette.placeholder}
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
        aria-label={words.palette.title}
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
        <span className="flex-1">{words.palette.hint}</span>
        <Kbd>↑</Kbd>
        <Kbd>↓</Kbd>
        {words.palette.walk}
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

/** Entries that were used last, above all others. */
const MAX_RECENT = 5

function withRecent(own: readonly Choice[], uses: readonly (readonly [id: string, count: number])[]) {
  const recent = uses
    .flatMap(([id]) => own.find((choice) => choice.id === id) ?? [])
    .slice(0, MAX_RECENT)
    .map((choice) => ({ ...choice, group: words.palette.groups.recent }))
  const ids = new Set(recent.map(({ id }) => id))
  return [...recent, ...own.filter(({ id }) => !ids.has(id))]
}

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
