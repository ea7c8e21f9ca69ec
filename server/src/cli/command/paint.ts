/** Colours, where a person looks at them: never in a pipe or a file, and not where NO_COLOR is set. */
import { styleText } from 'node:util'
import type { Output } from './output.ts'

type Style = Parameters<typeof styleText>[0]

export function paint(style: Style, text: string, { stdout }: Output): string {
  if (stdout.isTTY !== true || process.env['NO_COLOR']) return text
  return styleText(style, text, { validateStream: false })
}

const VERDICTS: Readonly<Record<string, Style>> = { ok: 'green', warn: 'yellow', fail: 'red' }

export function verdictText(verdict: string, out: Output): string {
  return paint(VERDICTS[verdict] ?? 'reset', verdict, out)
}
