/**
 * Keys of the keyboard. Letters act only outside of text fields, never with a modifier, and can be turned off (WCAG 2.1.4).
 * What was bound last is asked first, so an open dialog hides the page behind it.
 */
import { useEffect, useEffectEvent } from 'react'

type KeyAction = (event: KeyboardEvent) => unknown
export type Bindings = Readonly<Record<string, KeyAction>>

interface Layer {
  readonly bindings: () => Bindings
}

const layers: Layer[] = []
let lettersAreOn = true
let isListening = false
/** `g` waits for its second key. */
let waiting: { readonly first: string; readonly untilMs: number } | undefined
const SECOND_KEY_WITHIN_MS = 1200

export function setLetters(areOn: boolean): void {
  lettersAreOn = areOn
}

/** `{ j: next, 'g o': goToOverview, 'mod+k': openPalette }`. An action that returns false did not want the key. */
export function useKeys(bindings: Bindings): void {
  const current = useEffectEvent(() => bindings)
  useEffect(() => {
    listen()
    const layer: Layer = { bindings: () => current() }
    layers.push(layer)
    return () => {
      layers.splice(layers.indexOf(layer), 1)
    }
  }, [])
}

function listen(): void {
  if (isListening) return
  isListening = true
  document.addEventListener('keydown', onKeyDown)
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  if (event.metaKey || event.ctrlKey) {
    if (!event.altKey) run(`mod+${event.key.toLowerCase()}`, event)
    return
  }
  if (event.altKey || isTyping(event.target)) return
  const { key } = event
  // Space and Enter belong to the button or link that has the focus.
  if ((key === ' ' || key === 'Enter') && isControl(event.target)) return
  const isLetter = key.length === 1 && key !== ' '
  if (isLetter && !lettersAreOn) return
  if (waiting !== undefined && performance.now() < waiting.untilMs) {
    const both = `${waiting.first} ${key}`
    waiting = undefined
    if (run(both, event)) return
  }
  if (layers.some(({ bindings }) => Object.keys(bindings()).some((name) => name.startsWith(`${key} `)))) {
    waiting = { first: key, untilMs: performance.now() + SECOND_KEY_WITHIN_MS }
    return
  }
  run(key, event)
}

function run(name: string, event: KeyboardEvent): boolean {
  for (const { bindings } of layers.toReversed()) {
    const action = bindings()[name]
    if (action === undefined || action(event) === false) continue
    event.preventDefault()
    return true
  }
  return false
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches('input:not([type=checkbox]):not([type=range]), textarea, select, [role=combobox]'))
  )
}

function isControl(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('button, [role=menuitem], [role=option], summary') !== null
  )
}
