/**
 * Compares what a command printed with what its page shows, value by value. Only declared parts may differ: ids, keys, times,
 * hashes, durations, folders, and parts that the page shortens to `…`.
 */
import { hostname } from 'node:os'
import { diff } from 'node:util'

/** What differs from run to run. Order matters: a time is no id, an id has no date in it. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-(?:[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|…)/g, '<id>'],
  [/\b(batch|batch_req|evt|file|img|job|msg)([-_])[0-9a-f]{32}(?![0-9a-f])/g, '$1$2<id>'],
  [/\btra?_(?:[A-Za-z0-9]{20,}_[0-9a-f]{8}\b|…)/g, '<key>'],
  [/…[0-9a-f]{4}\b/g, '<end of a key>'],
  [/\b(sig|token)=(?:[\w-]{20,}|…)/g, '$1=<signature>'],
  [/\b[0-9a-f]{64}\b/g, '<hash>'],
  [/\b20\d\d-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?(?!\d)/g, '<time>'],
  [/\b1[789]\d{8}\b/g, '<time>'],
  [/\b\d+(?:\.\d+)? (?:ms|µs)(?!\w)/g, '<duration>'],
  [/\/home\/\w+\/torana\b/g, '<folder>'],
]

/** Lines of a difference that are printed: the first ones name the cause. */
const MAX_LINES = 60
const SIGNS = ['+', ' ', '-']

export interface Place {
  /** Of the clone. A page has `/home/<name>/torana`. */
  readonly folder: string
  readonly publicPort: number
  readonly controlPort: number
}

/** A page's addresses, at the ports of this run. */
export function atPorts(text: string, { publicPort, controlPort }: Place): string {
  return text
    .replaceAll(/\b(127\.0\.0\.1|localhost):8080\b/g, `$1:${publicPort}`)
    .replaceAll(/\b(127\.0\.0\.1|localhost):8081\b/g, `$1:${controlPort}`)
}

/** Undefined: the page is right. Else the differences. */
export function difference(shown: string, printed: string, place: Place): string | undefined {
  const output = printed
    .replaceAll('\r', '')
    .replaceAll(place.folder, '<folder>')
    .replaceAll(hostname(), 'gateway-1')
    .replaceAll(new RegExp(`\\b${place.publicPort}\\b`, 'g'), '8080')
    .replaceAll(new RegExp(`\\b${place.controlPort}\\b`, 'g'), '8081')
  return shown.startsWith('HTTP/1.1 ') ? ofAnswers(shown, output) : ofBodies(shown, output)
}

/** A page shows the headers that matter; these must be as shown. */
function ofAnswers(shown: string, output: string): string | undefined {
  const [shownHead = '', ...shownBody] = shown.split('\n\n')
  const [head = '', ...body] = output.split('\n\n')
  const shownNames = new Set(shownHead.split('\n').map(nameOf))
  const chosen = head.split('\n').filter((line) => shownNames.has(nameOf(line)))
  const inOrder = chosen.toSorted(
    (left, right) => [...shownNames].indexOf(nameOf(left)) - [...shownNames].indexOf(nameOf(right)),
  )
  const ofHead = ofTexts(shownHead, inOrder.join('\n'))
  if (ofHead !== undefined || shownBody.join('').trim() === '') return ofHead
  return ofBodies(shownBody.join('\n\n'), body.join('\n\n'))
}

function nameOf(line: string): string {
  return /^[^:\s]+/.exec(line)?.[0].toLowerCase() ?? ''
}

function ofBodies(shown: string, output: string): string | undefined {
  const shownValue = parsed(quoted(shown))
  const value = parsed(output)
  if (typeof shownValue !== 'object' || typeof value !== 'object') return ofTexts(shown, output)
  const [left, right] = [settled(value), settled(shownValue)]
  return unequal(JSON.stringify(left, null, 2), JSON.stringify(filled(right, left), null, 2))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** JSON in which a bare `…` of a list or an object is a value or a field. */
function quoted(text: string): string {
  const open: string[] = []
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[[\]{}…]/g, (token) => {
    if (token === '…') return open.at(-1) === '{' ? '"…":"…"' : '"…"'
    if (token === '[' || token === '{') open.push(token)
    if (token === ']' || token === '}') open.pop()
    return token
  })
}

function stable(text: string): string {
  return VOLATILE.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), text)
}

/** The value without its volatile parts. */
function settled(value: unknown): unknown {
  if (typeof value === 'string') return stable(value)
  if (typeof value === 'number') return stable(String(value)) === '<time>' ? '<time>' : value
  if (Array.isArray(value)) return value.map(settled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, settled(inner)]))
}

/** What the page shows, with the printed values where the page has `…`, and names in the printed order. */
function filled(shown: unknown, printed: unknown): unknown {
  if (shown === '…') return printed
  if (typeof shown === 'string' && typeof printed === 'string')
    return patternOf(shown).test(`${printed}\n`) ? printed : shown
  if (Array.isArray(shown) && Array.isArray(printed)) return filledList(shown, printed)
  if (!isObject(shown) || !isObject(printed)) return shown
  const isShortened = '…' in shown
  const known = Object.entries(printed).flatMap(([name, value]) => {
    if (name in shown) return [[name, filled(shown[name], value)] as const]
    return isShortened ? [[name, value] as const] : []
  })
  const unknown = Object.entries(shown).filter(([name]) => name !== '…' && !(name in printed))
  return Object.fromEntries([...known, ...unknown])
}

function filledList(shown: readonly unknown[], printed: readonly unknown[]): readonly unknown[] {
  const cut = shown.indexOf('…')
  if (cut === -1 || printed.length < shown.length - 1)
    return shown.map((value, index) => filled(value, printed[index]))
  const end = shown.slice(cut + 1)
  const endsAt = printed.length - end.length
  return [
    ...shown.slice(0, cut).map((value, index) => filled(value, printed[index])),
    ...printed.slice(cut, endsAt),
    ...end.map((value, index) => filled(value, printed[endsAt + index])),
  ]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `…` on a line of its own is any number of lines, within a line any characters. */
function patternOf(shown: string): RegExp {
  const lines = shown.split('\n').map((line) => {
    if (line.trim() === '…') return '(?:.*\\n)*?'
    return `${line
      .split('…')
      .map((part) => RegExp.escape(part))
      .join('.*')}\\n`
  })
  return new RegExp(`^${lines.join('')}$`)
}

function ofTexts(shown: string, output: string): string | undefined {
  const [left, right] = [tidied(output), tidied(shown)]
  return patternOf(right).test(`${left}\n`) ? undefined : unequal(left, right)
}

/** Columns are as wide as their widest value, which may be volatile. */
function tidied(text: string): string {
  const lines = stable(text)
    .split('\n')
    .map((line) => line.trimEnd().replaceAll(/ {2,}/g, '  '))
  return lines.join('\n').replace(/^\n+/, '').trimEnd()
}

function unequal(printed: string, shown: string): string | undefined {
  if (printed === shown) return undefined
  const lines = diff(shown.split('\n'), printed.split('\n')).map(
    ([kind, line]) => `${SIGNS[kind + 1]} ${line}`,
  )
  return lines.slice(0, MAX_LINES).join('\n') + (lines.length > MAX_LINES ? '\n(and more)' : '')
}
