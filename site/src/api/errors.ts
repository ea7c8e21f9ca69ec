/** What each error code means, from the page that is generated from the catalogue. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// Astro runs a build in the folder of its configuration.
const page = readFileSync(join(process.cwd(), '../docs/errors.md'), 'utf8')

/** The error that the page shows in full. */
export const errorExample = (/^```json\n([\s\S]*?)\n```$/m.exec(page)?.[1] ?? '').trim()

/** The first sentence below the heading of a code. */
export function meaningOf(code: string): string {
  const [, text = ''] = new RegExp(`^## ${code}\\n\\n\\*\\*HTTP[^\\n]*\\n\\n([^\\n]+)`, 'm').exec(page) ?? []
  return (/^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text).replaceAll('`', '')
}
