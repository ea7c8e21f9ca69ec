/**
 * Inputs as lines: a text, media, or both in one line, which then make one vector. A line names media by a reference, so that the lines
 * stay one text that can be kept, pasted and grouped. Pure, with tests.
 */

export interface LineInput {
  /** Empty: it has media alone. */
  readonly text: string
  readonly media: readonly MediaReference[]
}

export interface MediaReference {
  readonly id: string
  readonly name: string
}

const REFERENCE = /!\[([^\]\n]*)\]\(media:([\w-]+)\)/g

export function inputOfLine(line: string): LineInput {
  const media = Array.from(line.matchAll(REFERENCE), ([, name = '', id = '']) => ({ id, name }))
  const text = media.length === 0 ? line : line.replaceAll(REFERENCE, ' ').replaceAll(/ +/g, ' ')
  return { text: text.trim(), media }
}

export function lineOfInput({ text, media }: LineInput): string {
  const references = media.map(({ id, name }) => `![${name.replaceAll(/[[\]()\n]/g, ' ')}](media:${id})`)
  return [...(text === '' ? [] : [text]), ...references].join(' ')
}

/** The text of a line as it was typed, spaces at its end too: references stand after it. */
export function typedIn(line: string): string {
  const at = line.search(REFERENCE)
  return at < 0 ? line : line.slice(0, Math.max(0, at - 1))
}

/** What an input is called beside its point: its text, else the names of its media. */
export function nameOfInput({ text, media }: LineInput): string {
  return text === '' ? media.map(({ name }) => name).join(', ') : text
}

export type InputKind = 'text' | 'media' | 'joined'

export function kindOfInput({ text, media }: LineInput): InputKind {
  if (media.length === 0) return 'text'
  return media.length === 1 && text === '' ? 'media' : 'joined'
}

export function hasMedia(value: string): boolean {
  return value.includes('](media:')
}

export function linesOf(value: string): string[] {
  return value.split(/\r\n|\r|\n/)
}

/** The lines with one of them replaced by any number of others. */
export function withLine(value: string, at: number, ...lines: readonly string[]): string {
  return linesOf(value)
    .toSpliced(at, 1, ...lines)
    .join('\n')
}

/** One line for each of the media, after the last one that is not empty. */
export function withMedia(value: string, media: readonly MediaReference[]): string {
  const added = media.map((one) => lineOfInput({ text: '', media: [one] }))
  const before = value.replace(/\s+$/, '')
  return [...(before === '' ? [] : [before]), ...added].join('\n')
}

/** The media become parts of the input of a line. A line that names a group takes none. */
export function joinedAt(value: string, at: number, media: readonly MediaReference[]): string {
  const line = linesOf(value)[at] ?? ''
  if (line.trim().startsWith('#'))
    return withLine(value, at, line, ...media.map((one) => lineOfInput({ text: '', media: [one] })))
  const input = inputOfLine(line)
  return withLine(value, at, lineOfInput({ ...input, media: [...input.media, ...media] }))
}

/** One part of a joined input becomes an input of its own, on the line after. */
export function splitAt(value: string, at: number, part: number): string {
  const { text, media } = inputOfLine(linesOf(value)[at] ?? '')
  const own = media[part]
  if (own === undefined) return value
  return withLine(
    value,
    at,
    lineOfInput({ text, media: media.toSpliced(part, 1) }),
    lineOfInput({ text: '', media: [own] }),
  )
}

export function withoutPart(value: string, at: number, part: number): string {
  const { text, media } = inputOfLine(linesOf(value)[at] ?? '')
  const line = lineOfInput({ text, media: media.toSpliced(part, 1) })
  return line === '' ? withLine(value, at) : withLine(value, at, line)
}
